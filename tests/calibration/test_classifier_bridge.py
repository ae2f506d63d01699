"""Artefacts and policies behind a Classifier: raw kept, calibrated used, other answers refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.calibrating import (
    AnswerCalibrator,
    AnswerPolicy,
    Origin,
    log_distribution,
    origin,
)
from classify.calibration.abstention import ConfidencePolicy, CostPolicy, SetPolicy
from classify.calibration.artefact import CalibrationArtefact, Fingerprint, make_artefact
from classify.calibration.auto import calibrate
from classify.calibration.fitted import FittedOn
from classify.calibration.held_out_answers import HeldOutAnswers
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.prediction_sets import fit_sets
from classify.calibration.question_fields import differing_fields
from classify.calibration.temperature import TemperatureCalibrator
from classify.classifier import Classifier
from classify.errors import CalibrationError, InvalidInput
from classify.evaluation import Evaluation
from classify.questions import Boolean, Choice, Question, Score
from classify.testing import ScriptedLanguageModel

TOPIC = Choice(criteria={"sports": None, "politics": None, "art": None})
STARS = Score(criteria=["bad", "fair", "good"])
OK = Boolean(instructions="Is it ok?")
TOKENS = {
    "choice": {"A": 0.7, "B": 0.2, "C": 0.1},
    "score": {"0": 0.1, "1": 0.2, "2": 0.7},
    "boolean": {"Yes": 0.9, "No": 0.1},
}


def model(question: Question) -> ScriptedLanguageModel:
    """Return a model that gives each label the same probability whatever is judged."""
    logprobs = {token: math.log(p) for token, p in TOKENS[question.type].items()}
    return ScriptedLanguageModel(lambda prompt, sampling: logprobs)


def asked(question: Question) -> Answer:
    """Return the raw answer to a question."""
    evaluation = Classifier("c", model(question), {"q": question}).evaluate_sync("text")
    answer = evaluation.answers["q"]
    assert not isinstance(answer, NoVerdict)
    return answer


def fitted(question: Question, answer: Answer) -> CalibrationArtefact:
    """Return an artefact for such answers, fitted on rows that are twice too sharp."""
    k = len(question.options)
    random = np.random.default_rng(5)
    truth = random.normal(0.0, 1.5, (400, k))
    p = np.exp(truth) / np.exp(truth).sum(axis=1, keepdims=True)
    y = np.minimum((p.cumsum(axis=1) < random.random((400, 1))).sum(axis=1), k - 1)
    found = calibrate(2.0 * truth, y, method="temperature")
    made = origin(question, answer, "q", model="scripted", orders=1)
    return make_artefact(
        found,
        Fingerprint.of(made),
        name="q",
        held_out=HeldOutAnswers.of(found.held_out, y),
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )


def with_artefact(question: Question, artefact: AnswerCalibrator) -> Evaluation:
    """Return what a classifier with the artefact says."""
    return Classifier(
        "c", model(question), {"q": question}, calibrators={"q": artefact}
    ).evaluate_sync("t")


@pytest.mark.parametrize("question", [TOPIC, STARS, OK], ids=["choice", "score", "boolean"])
def test_raw_probabilities_stay_beside_the_calibrated_ones(question: Question) -> None:
    """A classifier gives what the artefact gives for the raw answer, and names it."""
    raw = asked(question)
    artefact = fitted(question, raw)

    answer = with_artefact(question, artefact).answers["q"]

    assert isinstance(answer, BooleanAnswer | ChoiceAnswer | ScoreAnswer)
    assert answer.raw_probabilities == raw.probabilities
    expected = artefact.calibrator.apply(log_distribution(raw)[None])[0]
    np.testing.assert_allclose(log_distribution(answer), expected, atol=1e-12)
    assert not np.allclose(expected, log_distribution(raw), atol=0.1)
    assert answer.evidence is not None and answer.evidence.calibrator == artefact.digest


def test_a_score_is_the_mean_of_calibrated_levels() -> None:
    """What is read off a distribution must follow it when it moves."""
    raw = asked(STARS)
    assert isinstance(raw, ScoreAnswer)

    answer = with_artefact(STARS, fitted(STARS, raw)).answers["q"]

    assert isinstance(answer, ScoreAnswer) and answer.probabilities is not None
    mean = sum(int(level) * p for level, p in answer.probabilities.items())
    assert answer.score == pytest.approx(mean, abs=1e-12)
    assert answer.score < raw.score


def test_an_ordinal_calibrator_serves_score_questions() -> None:
    """Proportional odds goes the same way as every other calibrator."""
    raw = asked(STARS)
    artefact = fitted(STARS, raw)
    random = np.random.default_rng(1)
    rows = random.normal(0.0, 1.0, (60, 3))
    ordinal = fit_proportional_odds(rows, random.integers(0, 3, 60))

    answer = with_artefact(STARS, artefact.model_copy(update={"calibrator": ordinal})).answers["q"]

    assert isinstance(answer, ScoreAnswer)
    expected = ordinal.apply(log_distribution(raw)[None])[0]
    np.testing.assert_allclose(log_distribution(answer), expected, atol=1e-12)


def test_a_score_without_a_distribution_is_left_as_it_is() -> None:
    """Two words at the ends of a scale give a position, which has nothing to calibrate."""
    anchored = Score(criteria=["bad", "fair", "good"], words=["bad", "good"])
    scripted = ScriptedLanguageModel(
        scores=lambda prompt, texts: [[-1.0 - 0.5 * n] for n, _ in enumerate(texts)]
    )
    artefact = fitted(STARS, asked(STARS))
    plain = Classifier("c", scripted, {"q": anchored})

    answer = Classifier("c", scripted, {"q": anchored}, calibrators={"q": artefact}).evaluate_sync(
        "t"
    )

    raw = plain.evaluate_sync("t").answers["q"]
    found = answer.answers["q"]
    assert isinstance(found, ScoreAnswer) and isinstance(raw, ScoreAnswer)
    assert (found.score, found.probabilities) == (raw.score, None)


def test_answers_made_otherwise_are_refused_with_the_parts_named() -> None:
    """A temperature of another question is a number from nowhere."""
    artefact = fitted(TOPIC, asked(TOPIC))
    other = Choice(criteria={"sports": None, "politics": None, "art": "pictures"})

    with pytest.raises(CalibrationError) as refused:
        with_artefact(other, artefact)

    assert (
        "(question: criteria.art fitted on None, applied to 'pictures'); fit one for these, or use "
        "it all the same: --accept question on the command line, "
        "artefact.accepting('question') in Python"
    ) in str(refused.value)
    assert "options" not in str(refused.value)


def test_a_question_with_a_criterion_more_is_told_by_that_criterion() -> None:
    """And not by all that both questions share."""
    fields = differing_fields(
        {"instructions": "Which?", "criteria": {"a": None, "b": "x"}, "cue": None},
        {"instructions": "What?", "criteria": {"a": None, "c": "y"}, "cue": None},
    )

    assert fields == {
        "instructions": ("'Which?'", "'What?'"),
        "criteria.b": ("'x'", "nothing"),
        "criteria.c": ("nothing", "'y'"),
    }


def words_model() -> ScriptedLanguageModel:
    """Return a model that scores each option's words, some of them by two tokens."""
    return ScriptedLanguageModel(
        scores=lambda prompt, texts: [[-1.0 - n, -0.5][: 1 + n % 2] for n, _ in enumerate(texts)]
    )


@pytest.mark.parametrize(
    ("asked_with", "now", "part"),
    [
        ({"readout": "letters", "prompt_form": "completion"}, {"prompt_form": "chat"}, "chat"),
        ({"readout": "letters", "prompt_form": "prefill"}, {"prompt_form": "chat"}, "chat"),
        ({"state_name": "Tweet"}, {"state_name": "Text"}, "state called 'Text'"),
        ({"length": "sum"}, {"length": "mean"}, "mean of tokens"),
        ({}, {"name": "r"}, "question called 'r'"),
    ],
    ids=["completion", "prefill", "state name", "length", "question id"],
)
def test_answers_to_another_prompt_are_refused(
    asked_with: dict[str, Any], now: dict[str, Any], part: str
) -> None:
    """All that the prompt is made of besides the state can change the answers."""
    name = now.pop("name", "q")
    scripted = model(TOPIC) if "readout" in asked_with else words_model()
    raw = Classifier("c", scripted, {"q": TOPIC}, **asked_with).evaluate_sync("t").answers["q"]
    assert not isinstance(raw, NoVerdict)
    artefact = fitted(TOPIC, raw)
    own = Classifier("c", scripted, {"q": TOPIC}, calibrators={"q": artefact}, **asked_with)
    other = Classifier(
        "c", scripted, {name: TOPIC}, calibrators={name: artefact}, **(asked_with | now)
    )

    assert own.evaluate_sync("t").answers["q"].raw_probabilities == raw.probabilities
    with pytest.raises(CalibrationError, match=f"prompt_template: fitted on .*applied to .*{part}"):
        other.evaluate_sync("t")


def test_an_accepted_difference_is_recorded_with_the_answer() -> None:
    """Whoever reads the results later must see it."""
    artefact = fitted(TOPIC, asked(TOPIC))
    parts = artefact.fingerprint.model_copy(update={"library": "0.0.1"})
    old = artefact.model_copy(update={"fingerprint": parts})
    with pytest.raises(CalibrationError, match=r"library: fitted on '0\.0\.1'"):
        with_artefact(TOPIC, old)

    answer = with_artefact(TOPIC, old.accepting("library")).answers["q"]

    assert answer.evidence is not None
    assert answer.evidence.calibrator == f"{old.digest} accepted: library"


def test_only_parts_of_a_fingerprint_can_be_accepted() -> None:
    """A misspelt override must not look as if it had been made."""
    with pytest.raises(CalibrationError, match=r"accept names \['libary'\]"):
        fitted(TOPIC, asked(TOPIC)).accepting("libary")


@pytest.mark.parametrize(
    ("threshold", "stands"),
    [pytest.param(0.5, True, id="sure enough"), pytest.param(math.inf, False, id="never")],
)
def test_what_a_policy_hands_over_has_no_verdict(threshold: float, stands: bool) -> None:
    """It is uncertain, keeps what was read, and says what is promised."""
    policy = ConfidencePolicy(threshold=threshold, guarantee="at most 5 % wrong")

    classifier = Classifier("c", model(TOPIC), {"q": TOPIC}, policies={"q": policy})
    answer = classifier.evaluate_sync("t").answers["q"]

    assert isinstance(answer, ChoiceAnswer) == stands
    if isinstance(answer, NoVerdict):
        assert answer.cause == "uncertain"
        assert "at most 5 % wrong" in answer.message
        assert answer.probabilities is not None


def test_the_policy_sees_calibrated_answers() -> None:
    """Its threshold was set behind the calibrator, which makes these answers less sure."""
    raw = asked(TOPIC)
    artefact = fitted(TOPIC, raw)
    top = max((raw.probabilities or {}).values())
    policy = ConfidencePolicy(threshold=top - 0.01, guarantee="g", fingerprint=artefact.digest)

    classifier = Classifier(
        "c", model(TOPIC), {"q": TOPIC}, calibrators={"q": artefact}, policies={"q": policy}
    )

    answer = classifier.evaluate_sync("t").answers["q"]

    assert isinstance(answer, NoVerdict)
    assert answer.raw_probabilities == raw.probabilities
    assert answer.probabilities != raw.probabilities


@pytest.mark.parametrize("calibrated", [True, False], ids=["another", "none"])
def test_a_policy_is_refused_behind_another_calibrator_than_its_own(calibrated: bool) -> None:
    """What it promises holds for answers that went through its own, and for no others."""
    artefact = fitted(TOPIC, asked(TOPIC))
    policy = artefact.policy(alpha=0.4)
    other = artefact.model_copy(
        update={"calibrator": TemperatureCalibrator(fitted_on=FittedOn(n=9, k=3), temperature=2.0)}
    )
    given = {"q": other} if calibrated else {}
    found = f"the calibrator '{other.digest}'" if calibrated else "no calibrator"

    with pytest.raises(InvalidInput, match=rf"'{artefact.digest}'.* has {found} here.*policy\("):
        Classifier("c", model(TOPIC), {"q": TOPIC}, calibrators=given, policies={"q": policy})

    unsaid = policy.model_copy(update={"fingerprint": None})
    Classifier("c", model(TOPIC), {"q": TOPIC}, calibrators=given, policies={"q": unsaid})


def test_a_policy_stays_with_an_artefact_that_accepts_differences() -> None:
    """What may differ is recorded with the answers; the map is the one it was fitted behind."""
    artefact = fitted(TOPIC, asked(TOPIC))
    policy = artefact.policy(alpha=0.4)

    classifier = Classifier(
        "c",
        model(TOPIC),
        {"q": TOPIC},
        calibrators={"q": artefact.accepting("library")},
        policies={"q": policy},
    )

    assert policy.guarantee
    assert classifier.evaluate_sync("t").answers["q"].evidence is not None


def test_an_artefact_fits_its_policy_on_held_out_answers() -> None:
    """So that --abstain needs no labels of its own; a lower alpha hands over more."""
    artefact = fitted(TOPIC, asked(TOPIC))

    strict, loose = artefact.policy(alpha=0.1), artefact.policy(alpha=0.4)

    assert strict.threshold > loose.threshold
    assert loose.fingerprint == artefact.digest
    assert "at most 40.0%" in loose.guarantee
    without = artefact.model_copy(update={"held_out": None})
    with pytest.raises(CalibrationError, match="no held-out answers"):
        without.policy(alpha=0.1)


def test_every_policy_and_artefact_satisfies_the_protocols_of_the_core() -> None:
    """The core names no class of this package."""
    artefact = fitted(TOPIC, asked(TOPIC))
    rows = np.random.default_rng(0).normal(0.0, 1.0, (50, 3))
    policies: Mapping[str, AnswerPolicy] = {
        "confidence": ConfidencePolicy(threshold=0.5, guarantee="g"),
        "set": SetPolicy.from_sets(fit_sets(rows, rows.argmax(axis=1), alpha=0.1)),
        "cost": CostPolicy(costs=((0.0, 1.0), (1.0, 0.0)), escalation_cost=0.2),
    }
    calibrator: AnswerCalibrator = artefact

    assert all(policy.guarantee for policy in policies.values())
    assert calibrator.calibrated(log_distribution(asked(TOPIC)), _origin())[1] == artefact.digest


def _origin() -> Origin:
    return origin(TOPIC, asked(TOPIC), "q", model="scripted", orders=1)


def test_the_artefact_survives_its_file_with_all_of_this() -> None:
    """Name, held-out answers and accepted parts are part of what is kept."""
    artefact = fitted(TOPIC, asked(TOPIC)).accepting("model")

    again = CalibrationArtefact.model_validate_json(artefact.model_dump_json())

    assert again == artefact
    assert again.digest == artefact.digest
