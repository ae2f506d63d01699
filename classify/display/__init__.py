"""What a person is shown of answers: the same facts in a terminal, a notebook and a page."""
