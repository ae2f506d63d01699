"""Dividing out the labels' own popularity: batches and states without content."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import asyncio
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.decision import DecisionRequest
from classify.errors import ClassifyError, InvalidInput, ProviderError
from classify.evaluation import Evaluation
from classify.logspace import Floats
from classify.prior import BLANKS, FEWEST, batch_corrected, blanked, divided
from classify.question_sets import parse_questions
from classify.testing.scripted import RawAnswer, ScriptedModel

CHOICE: Mapping[str, Any] = {"type": "choice", "criteria": {"bee": None, "ant": None}}
BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
SCORE: Mapping[str, Any] = {"type": "score", "criteria": ["bad", "fair", "good"]}


@pytest.mark.parametrize(
    ("p", "prior", "expected"),
    [
        pytest.param([0.8, 0.2], [0.8, 0.2], [0.5, 0.5], id="as usual is even"),
        # .5/.8 : .5/.2 = 1 : 4
        pytest.param([0.5, 0.5], [0.8, 0.2], [0.2, 0.8], id="even is for the rare"),
        # .6/.5 : .3/.25 : .1/.25 = 1.2 : 1.2 : .4
        pytest.param([0.6, 0.3, 0.1], [0.5, 0.25, 0.25], [3 / 7, 3 / 7, 1 / 7], id="three"),
        pytest.param([0.7, 0.3], [0.5, 0.5], [0.7, 0.3], id="an even prior"),
        pytest.param([1.0, 0.0], [1.0, 0.0], [1.0, 0.0], id="never seen"),
        pytest.param([0.0, 1.0], [0.5, 0.5], [0.0, 1.0], id="certain"),
    ],
)
def test_a_prior_is_divided_out(p: list[float], prior: list[float], expected: list[float]) -> None:
    """Each share over its prior, normalised."""
    np.testing.assert_allclose(divided(np.array([p]), np.array(prior))[0], expected, rtol=1e-12)


shares = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3).map(np.array)


@given(st.lists(shares, min_size=1, max_size=6), shares)
def test_dividing_out_is_undone_by_multiplying(rows: list[Floats], prior: Floats) -> None:
    """The correction loses nothing: the raw distribution comes back."""
    p = np.array([row / row.sum() for row in rows])
    prior = prior / prior.sum()

    back = divided(p, prior) * prior

    np.testing.assert_allclose(back / back.sum(axis=1, keepdims=True), p, rtol=1e-9)


def by_state(request: DecisionRequest) -> Mapping[str, RawAnswer]:
    """Answer with the probability that the state is, or as the state says."""
    if request.state == "broken":
        raise ProviderError("gone")
    if request.state == "silent":
        return {
            name: {"type": "no_verdict", "cause": "refusal", "message": "no"}
            for name in request.questions
        }
    assert isinstance(request.state, float)
    return {name: answer(request.state, q.type) for name, q in request.questions.items()}


def answer(p: float, kind: str) -> RawAnswer:
    """Return an answer of a kind in which the first option (or true) has p."""
    if kind == "choice":
        chosen = "ant" if p >= 0.5 else "bee"
        return {"type": "choice", "choice": chosen, "probabilities": {"ant": p, "bee": 1 - p}}
    if kind == "score":
        shares = {"0": p, "1": (1 - p) / 2, "2": (1 - p) / 2}
        return {"type": "score", "score": 1.5 * (1 - p), "probabilities": shares}
    return {"type": "boolean", "probability": p}


def batch(states: list[Any], question: Mapping[str, Any] = CHOICE) -> list[Any]:
    """Evaluate states with a batch prior."""
    classifier = Classifier("c", ScriptedModel(by_state), {"q": question}, prior="batch")
    return [
        outcome.answers["q"] if isinstance(outcome, Evaluation) else outcome
        for outcome in asyncio.run(classifier.evaluate_many(states))
    ]


def test_a_batch_prior_by_hand() -> None:
    """Half the states say .9 and half .5, so the prior is .7 : .3."""
    found = batch([0.9] * 16 + [0.5] * 16)

    sure, unsure = found[0], found[-1]
    assert isinstance(sure, ChoiceAnswer) and isinstance(unsure, ChoiceAnswer)
    # .9/.7 : .1/.3 = 27 : 7 and .5/.7 : .5/.3 = 3 : 7
    assert sure.probabilities == pytest.approx({"ant": 27 / 34, "bee": 7 / 34})
    assert unsure.probabilities == pytest.approx({"ant": 0.3, "bee": 0.7})
    assert (sure.choice, unsure.choice) == ("ant", "bee")
    assert unsure.raw_probabilities == pytest.approx({"ant": 0.5, "bee": 0.5})
    assert unsure.evidence is not None
    assert unsure.evidence.prior == pytest.approx({"ant": 0.7, "bee": 0.3})
    assert unsure.evidence.prior_method == "batch"


def test_a_batch_prior_of_a_boolean_and_a_score() -> None:
    """Each kind keeps its own fields in step with the corrected distribution."""
    boolean = batch([0.9] * 16 + [0.5] * 16, BOOLEAN)[-1]
    score = batch([0.5] * 16 + [0.25] * 16, SCORE)[0]

    assert isinstance(boolean, BooleanAnswer) and boolean.probability == pytest.approx(0.3)
    # prior .375 : .3125 : .3125; .5/.375 : .25/.3125 twice = 4/3 : .8 : .8
    assert isinstance(score, ScoreAnswer) and score.probabilities is not None
    expected = np.array([4 / 3, 0.8, 0.8]) / (4 / 3 + 1.6)
    np.testing.assert_allclose(list(score.probabilities.values()), expected)
    assert score.score == pytest.approx(float(expected @ [0, 1, 2]))
    assert score.score_range is None and score.bounds is None


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.05, 0.95), min_size=FEWEST, max_size=40))
def test_how_the_options_are_declared_changes_no_bit(states: list[float]) -> None:
    """The prior belongs to the options, not to their places."""
    declared = {"type": "choice", "criteria": {"ant": None, "bee": None}}

    for one, other in zip(batch(states), batch(states, declared), strict=True):
        assert one.probabilities == other.probabilities
        assert one.evidence.prior == other.evidence.prior


def test_fewer_than_thirty_two_answers_are_refused() -> None:
    """A prior from a handful of states is noise: 31 answers and a no-verdict are not enough."""
    with pytest.raises(InvalidInput, match=r"needs at least 32 answers .* question 'q' has 31"):
        batch([0.5] * 31 + ["silent"])


def test_failures_and_no_verdicts_stay_as_they_are() -> None:
    """They have no distribution, neither in the prior nor corrected."""
    found = batch(["broken", *[0.9] * 16, "silent", *[0.5] * 16])

    assert isinstance(found[0], ProviderError)
    assert isinstance(found[17], NoVerdict)
    assert found[-1].probabilities == pytest.approx({"ant": 0.3, "bee": 0.7})


def test_correcting_twice_is_correcting_once() -> None:
    """Corrected answers are corrected again from their raw probabilities."""
    classifier = Classifier("c", ScriptedModel(by_state), {"q": CHOICE}, prior="batch")
    once = asyncio.run(classifier.evaluate_many([0.9] * 16 + [0.5] * 16))

    twice = batch_corrected(once, parse_questions({"q": CHOICE}))

    assert [o.answers["q"] for o in twice if isinstance(o, Evaluation)] == [
        o.answers["q"] for o in once if isinstance(o, Evaluation)
    ]


class Sure:
    """A policy that hands over what is below .8."""

    guarantee = "at least .8"

    def options(self, log_p: Floats) -> NDArray[np.int64]:
        """Return the likeliest option, -1 below .8."""
        return np.where(log_p.max(axis=1) >= np.log(0.8), log_p.argmax(axis=1), -1)


@pytest.mark.parametrize("question", [CHOICE, BOOLEAN, SCORE], ids=["choice", "boolean", "score"])
def test_correcting_twice_changes_nothing_where_a_policy_hands_over(
    question: Mapping[str, Any],
) -> None:
    """Those handed over were part of the prior, and are again; most of them are here."""
    model = ScriptedModel(by_state)
    built = Classifier("c", model, {"q": question}, prior="batch", policies={"q": Sure()})
    states = [0.05 + 0.9 * (n / 39) ** 0.5 for n in range(40)]

    once = asyncio.run(built.evaluate_many([*states, "silent"]))

    handed_over = [
        isinstance(each, Evaluation) and isinstance(each.answers["q"], NoVerdict) for each in once
    ]
    assert FEWEST > 41 - sum(handed_over) > 0
    assert once == built.batch_corrected(once)


def test_one_that_was_handed_over_stands_once_another_batch_says_so() -> None:
    """At .7 : .3 the .7 is even and handed over; at .25 : .75 it is 2.8 : .4, and stands."""
    model = ScriptedModel(by_state)
    built = Classifier("c", model, {"q": CHOICE}, prior="batch", policies={"q": Sure()})
    first = asyncio.run(built.evaluate_many([0.7] * 40))
    assert all(isinstance(e, Evaluation) and e.answers["q"].type == "no_verdict" for e in first)
    # (40 x .7 + 120 x .1) / 160 = .25
    second = asyncio.run(built.evaluate_many([0.1] * 120))

    found = built.batch_corrected([*first, *second])[0]

    assert isinstance(found, Evaluation)
    stands = found.answers["q"]
    assert isinstance(stands, ChoiceAnswer) and stands.choice == "ant"
    assert stands.probabilities == pytest.approx({"ant": 7 / 8, "bee": 1 / 8})
    assert stands.raw_probabilities == pytest.approx({"ant": 0.7, "bee": 0.3})


def test_a_models_own_uncertainty_is_no_answer() -> None:
    """Only a policy hands over what was an answer."""
    own = {
        "type": "no_verdict",
        "cause": "uncertain",
        "message": "hm",
        "raw_probabilities": {"ant": 0.5, "bee": 0.5},
    }

    def reply(request: DecisionRequest) -> Mapping[str, RawAnswer]:
        return {"q": own} if request.state == "unsure" else by_state(request)

    built = Classifier("c", ScriptedModel(reply), {"q": CHOICE}, prior="batch")
    found = asyncio.run(built.evaluate_many([0.9] * 32 + ["unsure"]))

    assert isinstance(found[-1], Evaluation) and isinstance(found[0], Evaluation)
    assert isinstance(found[-1].answers["q"], NoVerdict)
    evidence = found[0].answers["q"].evidence
    assert evidence is not None and evidence.prior == pytest.approx({"ant": 0.9, "bee": 0.1})


def test_one_state_is_no_batch() -> None:
    """Refused before a request, with the way out."""
    model = ScriptedModel(by_state)

    with pytest.raises(InvalidInput, match="use evaluate_many, `classify run`, or another prior"):
        asyncio.run(Classifier("c", model, {"q": CHOICE}, prior="batch").evaluate(0.5))
    assert model.requests == []


@pytest.mark.parametrize(
    ("state", "blank"),
    [
        pytest.param("Hello", "N/A", id="text"),
        pytest.param(
            {"a": "x", "b": {"c": ["y", 1, None, True]}},
            {"a": "N/A", "b": {"c": ["N/A", "N/A", None, "N/A"]}},
            id="shape",
        ),
        pytest.param(3, "N/A", id="number"),
    ],
)
def test_blanking_keeps_the_shape(state: Any, blank: Any) -> None:
    """Every value is replaced, so that states of one shape share a prior; names stay."""
    assert blanked(state, "N/A") == blank


def by_blank(p: Mapping[str, float]) -> ScriptedModel:
    """Return a model that answers .5 to a text and as told to a blank."""
    return ScriptedModel(
        lambda r: {
            name: answer(p.get(str(r.state), 0.5), q.type) for name, q in r.questions.items()
        }
    )


def test_a_content_free_prior_by_hand() -> None:
    """The mean over the four blanks is .8 : .2, so an even answer becomes .2 : .8."""
    model = by_blank(dict(zip(BLANKS, [0.9, 0.8, 0.7, 0.8], strict=True)))
    classifier = Classifier("c", model, {"q": CHOICE}, prior="content-free")

    found = asyncio.run(classifier.evaluate("Hello")).answers["q"]

    assert isinstance(found, ChoiceAnswer)
    assert found.probabilities == pytest.approx({"ant": 0.2, "bee": 0.8})
    assert found.raw_probabilities == pytest.approx({"ant": 0.5, "bee": 0.5})
    assert found.choice == "bee"
    assert found.evidence is not None
    assert found.evidence.prior == pytest.approx({"ant": 0.8, "bee": 0.2})
    assert found.evidence.prior_method == "content-free"
    assert [r.state for r in model.requests] == ["Hello", *BLANKS]


def test_blanks_are_asked_once_per_question_and_shape() -> None:
    """Also of states evaluated together; another shape of state is another prior."""
    model = by_blank({})
    classifier = Classifier("c", model, {"q": CHOICE}, prior="content-free")

    asyncio.run(classifier.evaluate_many(["a", "b", "c", "d"]))
    asyncio.run(classifier.evaluate_many(["e", {"text": "f"}]))

    assert len(model.requests) == 6 + 2 * len(BLANKS)


def test_each_setting_for_the_provider_has_its_own_prior() -> None:
    """At another temperature the blanks get another answer: it must not be remembered for all."""

    def reply(request: DecisionRequest) -> Mapping[str, RawAnswer]:
        return {"q": answer(0.9 if request.provider_options.get("temperature") else 0.6, "choice")}

    model = ScriptedModel(reply)
    classifier = Classifier("c", model, {"q": CHOICE}, prior="content-free")

    found = [
        asyncio.run(classifier.evaluate(state, provider_options=options)).answers["q"]
        for state in ("a", "b")
        for options in ({"temperature": 0.5}, None)
    ]

    assert [answer.evidence and answer.evidence.prior for answer in found] == [
        pytest.approx({"ant": p, "bee": 1.0 - p}) for p in (0.9, 0.6, 0.9, 0.6)
    ]
    assert len(model.requests) == 4 + 2 * len(BLANKS)


def test_a_blank_without_a_verdict_leaves_the_answer_as_it_is() -> None:
    """Nothing is known of the prior then, and nothing is divided out."""

    def reply(request: DecisionRequest) -> Mapping[str, RawAnswer]:
        if request.state in BLANKS:
            return {"q": {"type": "no_verdict", "cause": "refusal", "message": "no"}}
        return {"q": answer(0.75, "choice")}

    classifier = Classifier("c", ScriptedModel(reply), {"q": CHOICE}, prior="content-free")

    found = asyncio.run(classifier.evaluate("Hello")).answers["q"]

    assert isinstance(found, ChoiceAnswer)
    assert found.probabilities == {"ant": 0.75, "bee": 0.25}
    assert found.raw_probabilities is None
    assert found.evidence is None or found.evidence.prior_method is None


def test_a_failing_blank_fails_the_evaluation_and_is_asked_again() -> None:
    """Half a prior is not kept."""
    broken = [True]

    def reply(request: DecisionRequest) -> Mapping[str, RawAnswer]:
        if request.state == BLANKS[1] and broken[0]:
            raise ProviderError("gone")
        return {"q": answer(0.5, "choice")}

    classifier = Classifier("c", ScriptedModel(reply), {"q": CHOICE}, prior="content-free")

    with pytest.raises(ProviderError, match="gone"):
        asyncio.run(classifier.evaluate("Hello"))
    broken[0] = False
    found = asyncio.run(classifier.evaluate("Hello")).answers["q"]

    assert isinstance(found, ChoiceAnswer) and found.raw_probabilities is not None


def test_no_prior_is_the_default() -> None:
    """A correction changes answers, so it is asked for by name."""
    model = by_blank({})

    asyncio.run(Classifier("c", model, {"q": CHOICE}).evaluate("Hello"))

    assert len(model.requests) == 1


@settings(max_examples=30)
@given(st.lists(shares, min_size=FEWEST, max_size=FEWEST + 8))
def test_the_corrected_batch_is_normalised(rows: list[Floats]) -> None:
    """Every row sums to 1, whatever the batch."""
    p = np.array([row / row.sum() for row in rows])

    np.testing.assert_allclose(divided(p, p.mean(axis=0)).sum(axis=1), 1.0, atol=1e-12)


def test_errors_are_ours() -> None:
    """What stands in a failed place is a ClassifyError."""
    assert isinstance(batch(["broken", *[0.5] * 32])[0], ClassifyError)
    assert math.isclose(sum(batch([0.5] * 32)[0].probabilities.values()), 1.0)
