"""Two runs over the same rows, compared: for the terminal and for a page."""
