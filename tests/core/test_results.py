"""Lines of results are read back as they were written."""

from __future__ import annotations

from classify.answers import ChoiceAnswer
from classify.evidence import Evidence, OrderSeen, SeenToken
from classify.results import Result, parse_result, result_line


def test_an_alternative_without_probability_is_read_back() -> None:
    """Constrained decoding gives tokens of no probability at all, and their lines are no damage."""
    order = OrderSeen(
        labels={"A": "yes"},
        probabilities={"yes": 1.0},
        label_mass=1.0,
        alternatives=(SeenToken(token="A", logprob=0.0), SeenToken(token="B", logprob=None)),
        prompt_hash="0" * 64,
    )
    answer = ChoiceAnswer(
        choice="yes", probabilities={"yes": 1.0}, evidence=Evidence(orders=(order,))
    )
    result = Result(id="a", index=0, key="k", answers={"q": answer})

    assert parse_result(result_line(result)) == result
