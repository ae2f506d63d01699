"""A decision model made of a language model: which readout, which form, what is said of it."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.answers import AnyAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.decision import DecisionModel, DecisionRequest
from classify.errors import CapabilityError, ProviderError
from classify.language_model import (
    Alternative,
    Capabilities,
    ChatPrompt,
    LanguageModel,
    Position,
    Prompt,
    Reply,
    Sampling,
    TextPrompt,
    Usage,
)
from classify.logprob_model import LogprobModel
from classify.question_sets import parse_questions
from classify.questions import Score
from classify.testing.scripted import ScriptedLanguageModel, ScriptedModel

ALL: Mapping[str, Any] = {
    "c": {"type": "choice", "criteria": {"ant": None, "bee": None}},
    "s": {"type": "score", "criteria": ["bad", "good"]},
    "b": {"type": "boolean"},
}
CAN = Capabilities(
    top_logprobs=20,
    scores_text=True,
    forms=frozenset({"chat", "prefill", "completion"}),
    form="chat",
    readouts={"choice": "letters", "score": "digits", "boolean": "yes_no"},
)


def everything(_: Prompt, __: Sampling) -> Mapping[str, float]:
    """Give every label some mass."""
    return dict.fromkeys(["A", "B", "0", "1", "Yes", "No"], math.log(1 / 6))


def model(capabilities: Capabilities = CAN) -> ScriptedLanguageModel:
    """Return a model that can do all that is said."""
    return ScriptedLanguageModel(
        everything, scores=lambda _, texts: [[-1.0] for _ in texts], capabilities=capabilities
    )


def answers(language_model: ScriptedLanguageModel, **options: Any) -> Mapping[str, AnyAnswer]:
    """Ask a question of each kind."""
    classifier = Classifier("c", language_model, ALL, min_coverage=0.0, **options)
    return asyncio.run(classifier.evaluate("text")).answers


def readouts(found: Mapping[str, AnyAnswer]) -> list[str | None]:
    """Return the readout that each answer's evidence names."""
    return [a.evidence.readout for a in found.values() if a.evidence is not None]


def test_what_suits_the_model_is_the_default() -> None:
    """Kind by kind, as the model's adapter has measured it."""
    assert readouts(answers(model())) == ["letters", "digits", "yes_no"]


@pytest.mark.parametrize("readout", ["letters", "digits", "words", "sequence"])
def test_the_readout_can_be_chosen(readout: Any) -> None:
    """And the evidence says which it was."""
    assert readouts(answers(model(), readout=readout)) == [readout] * 3


@pytest.mark.parametrize(("levels", "used"), [(10, "digits"), (11, "letters")])
@pytest.mark.parametrize("asked", ["digits", None])
def test_more_options_than_digits_get_letters_and_the_evidence_says_so(
    levels: int, used: str, asked: Any
) -> None:
    """The same answers would otherwise be said to be read from digits."""
    question = Score(criteria=[f"level {n}" for n in range(levels)])
    classifier = Classifier("c", model(), {"s": question}, min_coverage=0.0, readout=asked)

    found = asyncio.run(classifier.evaluate("text"))

    assert readouts(found.answers) == [used]
    warned = asked == "digits" and used == "letters"
    assert found.warnings == (
        ("question 's': the digits readout has 10 labels, so the 11 options got letters",)
        if warned
        else ()
    )


@pytest.mark.parametrize("form", ["chat", "prefill", "completion"])
def test_the_form_can_be_chosen(form: Any) -> None:
    """And the evidence says which it was."""
    asked = model()

    found = answers(asked, prompt_form=form)

    assert [a.evidence.prompt_form for a in found.values() if a.evidence] == [form] * 3
    kind = TextPrompt if form == "completion" else ChatPrompt
    assert all(isinstance(prompt, kind) for prompt in asked.prompts)


def test_a_form_that_the_model_does_not_take_is_refused() -> None:
    """Before a request, with those it takes."""
    asked = model(replace(CAN, forms=frozenset({"chat"})))

    with pytest.raises(CapabilityError, match=r"of the form 'prefill'.*chat"):
        answers(asked, prompt_form="prefill")
    assert asked.prompts == []


@pytest.mark.parametrize(("top", "temperature"), [(20, 1.0), (5, 0.7)])
def test_sampling_is_neutral(top: int, temperature: float) -> None:
    """All the alternatives there are, at the temperature that the probe found.

    One token; three where the label is a digit, which may be the first of a longer number.
    """
    sent: list[Sampling] = []

    def reply(prompt: Prompt, sampling: Sampling) -> Mapping[str, float]:
        sent.append(sampling)
        return everything(prompt, sampling)

    can = replace(CAN, top_logprobs=top, temperature=temperature)
    answers(ScriptedLanguageModel(reply, capabilities=can))

    assert sent == [
        Sampling(max_tokens=most, top_logprobs=top, temperature=temperature) for most in (1, 3, 1)
    ]


@pytest.mark.parametrize(
    ("coverage", "verdict"),
    [(None, False), (0.31, False), (0.3, True), (0.0, True)],
    ids=["default", "above", "just", "none"],
)
def test_the_floor_is_inclusive(coverage: float | None, verdict: bool) -> None:
    """A label mass of exactly the floor is enough."""
    mass = Reply("A", (Position("A", (Alternative("A", math.log(0.3)),)),))
    classifier = Classifier(
        "c", ScriptedLanguageModel(lambda _, __: mass), {"c": ALL["c"]}, min_coverage=coverage
    )

    found = asyncio.run(classifier.evaluate("text")).answers["c"]

    assert isinstance(found, NoVerdict) != verdict


def test_both_seams_are_protocols() -> None:
    """A language model is none of the deciding ones, and what reads it is."""
    assert isinstance(model(), LanguageModel) and not isinstance(model(), DecisionModel)
    assert isinstance(LogprobModel(model()), DecisionModel)
    assert isinstance(ScriptedModel(lambda _: {}), DecisionModel)


def test_it_answers_without_a_classifier() -> None:
    """The envelope is plain, and a request of one's own is enough."""
    request = DecisionRequest("text", parse_questions({"b": ALL["b"]}))

    response = asyncio.run(LogprobModel(model()).decide(request))

    assert response.answers["b"]["type"] == "no_verdict"
    assert request.calls.attempts == 1


def test_usage_and_identity_are_of_all_requests() -> None:
    """Tokens are summed; the model that answered and its response are named."""
    reply = Reply(
        "Yes",
        (Position("Yes", (Alternative("Yes", -0.1),)),),
        usage=Usage(10, 1, 4),
        model="scripted-2",
        response_id="r9",
    )
    language_model = ScriptedLanguageModel(lambda _, __: reply)
    questions = {"a": {"type": "boolean"}, "b": {"type": "boolean"}}

    found = asyncio.run(Classifier("c", language_model, questions, orders=2).evaluate("text"))

    assert (found.usage.input_tokens, found.usage.output_tokens) == (40, 4)
    assert (found.usage.cached_tokens, found.usage.reasoning_tokens) == (16, None)
    assert (found.response.model_id, found.response.id) == ("scripted-2", "r9")
    evidence = found.answers["a"].evidence
    assert evidence is not None and evidence.usage is not None
    assert (evidence.usage.input_tokens, evidence.attempts) == (20, 2)


def test_one_failing_question_fails_the_evaluation() -> None:
    """With its own error, and the other questions are ended."""
    error = ProviderError("gone", status=410)

    def reply(prompt: Prompt, sampling: Sampling) -> Mapping[str, float]:
        if "Question: s" in str(prompt):
            raise error
        return everything(prompt, sampling)

    with pytest.raises(ProviderError, match="gone") as raised:
        answers(ScriptedLanguageModel(reply))
    assert raised.value is error


def test_capabilities_that_fail_are_tried_again() -> None:
    """The probe is a request like any other."""

    class Shy(ScriptedLanguageModel):
        asked = 0

        async def capabilities(self) -> Capabilities:
            self.asked += 1
            if self.asked == 1:
                raise ProviderError("busy", status=503, retryable=True, retry_after=0.0)
            return await super().capabilities()

    shy = Shy(everything, capabilities=CAN)

    assert len(answers(shy)) == 3
    assert shy.asked == 2


def test_the_same_state_twice_is_the_same_answer() -> None:
    """A number comes from logprobs, not from a draw: to the last bit."""
    once, again = answers(model(), orders=2), answers(model(), orders=2)

    for name in ALL:
        one, other = once[name], again[name]
        assert not isinstance(one, NoVerdict) and not isinstance(other, NoVerdict)
        assert (one.probabilities, one.bounds) == (other.probabilities, other.bounds)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=10), st.sampled_from([1.0, 0.9]))
def test_a_score_lies_in_its_range(weights: list[float], mass: float) -> None:
    """Not beside it by rounding, where every level was seen and the range is one number."""
    shown = {str(n): math.log(mass * w / math.fsum(weights)) for n, w in enumerate(weights)}
    scripted = ScriptedLanguageModel(lambda _, __: shown, capabilities=CAN)
    question = {"type": "score", "criteria": [f"level {n}" for n in range(len(weights))]}

    found = asyncio.run(Classifier("c", scripted, {"q": question}).evaluate("x")).answers["q"]

    assert isinstance(found, ScoreAnswer) and found.score_range is not None
    low, high = found.score_range
    assert low <= found.score <= high <= len(weights) - 1


def test_half_a_surrogate_pair_among_the_alternatives_can_be_written_to_a_file() -> None:
    """A line of results that cannot be written would stop a whole run."""
    shown = (Alternative("A", math.log(0.7)), Alternative("\ud83d", math.log(0.2)))
    reply = Reply("A", (Position("A", shown),), system_fingerprint="f\ud83d")

    evidence = answers(ScriptedLanguageModel(lambda _, __: reply))["c"].evidence

    assert evidence is not None and evidence.model_dump_json()
    assert [token.token for token in evidence.orders[0].alternatives] == ["A", "?"]
    assert evidence.system_fingerprint == "f?"
