"""Several words for one option: alternatives whose probabilities add up."""

from __future__ import annotations

import math

import pytest

from classify import Choice, ChoiceAnswer, Classifier, InvalidInput, LabelCollision
from classify.testing import ScriptedLanguageModel

CRITERIA = {"delivery": None, "refund": None}


def test_the_words_of_one_option_add_up() -> None:
    """(.10 + .20) against .10 is .75 against .25."""
    p = {" delivery": 0.1, " shipping": 0.2, " refund": 0.1}
    model = ScriptedLanguageModel(scores=lambda _, texts: [[math.log(p[t])] for t in texts])
    question = Choice(
        criteria=CRITERIA, words={"delivery": ["delivery", "shipping"], "refund": "refund"}
    )

    answer = (
        Classifier("c", model, {"topic": question}).evaluate_sync("where is it").answers["topic"]
    )

    assert isinstance(answer, ChoiceAnswer)
    assert answer.probabilities == pytest.approx({"delivery": 0.75, "refund": 0.25}, abs=1e-12)
    assert answer.label_mass == pytest.approx(0.4, abs=1e-12)
    assert answer.evidence is not None
    assert answer.evidence.orders[0].labels == {
        "delivery": "delivery",
        "shipping": "delivery",
        "refund": "refund",
    }


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        pytest.param(
            {"delivery": ["parcel", "money"], "refund": "Money"},
            LabelCollision,
            "'delivery' and 'refund' have the same words, 'Money'",
            id="shared",
        ),
        pytest.param(
            {"delivery": ["a", "a"], "refund": "b"}, InvalidInput, "none twice", id="doubled"
        ),
        pytest.param(
            {"delivery": [], "refund": "b"}, InvalidInput, "must be at least one", id="none"
        ),
        pytest.param(
            {"delivery": "a"}, InvalidInput, "words must name every option", id="option-left-out"
        ),
    ],
)
def test_words_that_cannot_be_told_apart_are_refused(
    words: dict[str, str | list[str]], error: type[InvalidInput], message: str
) -> None:
    """One word for two options, or twice for one, would be counted twice."""
    with pytest.raises(error, match=message):
        Choice(criteria=CRITERIA, words=words)
