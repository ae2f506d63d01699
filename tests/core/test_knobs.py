"""Every option has an effect, or is refused, or is said to have none."""

from __future__ import annotations

import math

import pytest

from classify import (
    Boolean,
    CapabilityError,
    Choice,
    Classifier,
    Evaluation,
    InvalidInput,
    NoVerdict,
)
from classify.language_model import Prompt, Reply, Sampling, Usage
from classify.prior import TooFewForPrior
from classify.testing import ScriptedLanguageModel, position_reply


def _words() -> ScriptedLanguageModel:
    return ScriptedLanguageModel(scores=lambda _, texts: [[math.log(0.25)] for _ in texts])


def test_reasons_before_words_are_refused_before_anything_is_sent() -> None:
    """The words readout continues a plain text: there is no place for reasons."""
    model = _words()
    classifier = Classifier("c", model, {"q": Boolean()}, reasoning=True)

    with pytest.raises(InvalidInput, match="reasoning=True needs an answer by label"):
        classifier.evaluate_sync("x")

    assert model.prompts == []


def test_orders_of_words_are_said_to_have_no_effect() -> None:
    """No options are listed, so there is one order; silence would look like two."""
    evaluation = Classifier("c", _words(), {"q": Boolean()}, orders=2).evaluate_sync("x")

    assert "there is one order, not orders=2" in evaluation.warnings[0]


def test_draws_with_reasons_are_refused() -> None:
    """A draw has no reasons before it."""
    model = ScriptedLanguageModel(lambda _, s: Reply("Yes"))
    classifier = Classifier("c", model, {"q": Boolean()}, reasoning=True, fallback="sample")

    with pytest.raises(CapabilityError, match="draws without reasons"):
        classifier.evaluate_sync("x")


def test_refused_draws_keep_their_cause() -> None:
    """V19: a refusal is no missing label."""
    model = ScriptedLanguageModel(lambda _, s: Reply("", refusal="I cannot judge this."))
    classifier = Classifier("c", model, {"q": Boolean()}, fallback="sample", samples=4)
    model_without = ScriptedLanguageModel(lambda _, s: Reply("no", refusal="no"))

    answer = classifier.evaluate_sync("x").answers["q"]

    assert isinstance(answer, NoVerdict)
    assert answer.cause == "refusal"
    assert model_without.prompts == []


def test_a_batch_that_is_too_small_is_refused_before_anything_is_sent() -> None:
    """Thirty-one states would be paid for and then thrown away."""
    model = _words()
    classifier = Classifier("c", model, {"q": Boolean()}, prior="batch")

    with pytest.raises(TooFewForPrior, match="at least 32 states, got 31"):
        classifier.evaluate_many_sync(["x"] * 31)

    assert model.prompts == []


def test_a_batch_whose_answers_are_too_few_keeps_them() -> None:
    """The error carries what was computed."""

    def reply(prompt: Prompt, _: Sampling) -> dict[str, float]:
        return {"The": 0.0} if "odd" in str(prompt) else {"Yes": math.log(0.6), "No": math.log(0.4)}

    classifier = Classifier("c", ScriptedLanguageModel(reply), {"q": Boolean()}, prior="batch")

    with pytest.raises(TooFewForPrior, match="'q' has 31") as raised:
        classifier.evaluate_many_sync(["even"] * 31 + ["odd"])

    assert len(raised.value.outcomes) == 32
    assert all(isinstance(outcome, Evaluation) for outcome in raised.value.outcomes)


def test_the_tokens_of_states_without_content_count_once() -> None:
    """Four blank states and the state itself, ten tokens each; the second state alone."""

    def reply(_: Prompt, __: Sampling) -> Reply:
        logs = {"Yes": math.log(0.6), "No": math.log(0.4)}
        return Reply("Yes", position_reply(logs).positions, usage=Usage(9, 1))

    classifier = Classifier(
        "c", ScriptedLanguageModel(reply), {"q": Boolean()}, prior="content-free"
    )

    first, second = (classifier.evaluate_sync(state) for state in ("one", "two"))

    assert (first.usage.total_tokens, second.usage.total_tokens) == (50, 10)


def test_the_fingerprint_knows_the_declared_order() -> None:
    """The first declared of tied options is chosen, so the order can change an answer."""
    one, other = (
        Classifier("c", _words(), {"q": Choice(criteria=dict.fromkeys(options))})
        for options in ("ab", "ba")
    )

    assert one.fingerprint != other.fingerprint
