"""Table 2B of the reference: a classifier's answer as a score, with its evidence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.classifier_scorer import create_classifier_scorer
from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.registry import NotRegistered, Registry
from classify.adapters.scorers.result import ScorerRun, StepContext
from classify.classifier import Classifier
from classify.decision import DecisionRequest, DecisionResponse, ResponseInfo
from classify.errors import InvalidAnswer, ProviderError
from classify.evaluation import Evaluation
from classify.json_values import JSON
from classify.language_model import Usage
from classify.questions import Boolean, Choice, Question, Score
from classify.testing import ScriptedLanguageModel, ScriptedModel

Context = StepContext[Any, Any, None, None]
CORRECTNESS = Choice(criteria={"correct": "right", "partial": None, "incorrect": "wrong"})
HALVES = {"correct": 1.0, "partial": 0.5, "incorrect": 0.0}
PARTIAL = {
    "type": "choice",
    "choice": "partial",
    "probabilities": {"correct": 0.3, "partial": 0.6, "incorrect": 0.1},
}
NO_VERDICT = {"type": "no_verdict", "cause": "refusal", "message": "the model declined"}


def output(context: Context) -> JSON:
    """Judge the run's output."""
    return str(context.run.output)


def classifier(
    question: Question, answer: Mapping[str, object], *, id: str = "rubric"
) -> Classifier:
    """Return a classifier that gives one answer to one question, q."""
    return Classifier(id, ScriptedModel(lambda _: {"q": answer}), {"q": question})


def levels(count: int) -> Score:
    """Return a score question of so many levels."""
    return Score(criteria=[f"level {level}" for level in range(count)])


@pytest.mark.parametrize(
    ("question", "answer", "settings", "score"),
    [
        pytest.param(CORRECTNESS, PARTIAL, {"scores": HALVES}, 0.5, id="44 choice"),
        pytest.param(levels(3), {"type": "score", "score": 1.5}, {}, 0.75, id="45 score"),
        pytest.param(levels(3), {"type": "score", "score": 1}, {}, 0.5, id="46 one of three"),
        pytest.param(levels(5), {"type": "score", "score": 3}, {}, 0.75, id="46 three of five"),
        pytest.param(levels(2), {"type": "score", "score": 0.8}, {}, 0.8, id="46 of two"),
        pytest.param(levels(7), {"type": "score", "score": 6}, {}, 1.0, id="46 top is exactly 1"),
        pytest.param(Boolean(), {"type": "boolean", "probability": 0.37}, {}, 0.37, id="47"),
        pytest.param(
            CORRECTNESS, PARTIAL, {"scores": HALVES, "projection": "expected"}, 0.6, id="expected"
        ),
        pytest.param(CORRECTNESS, PARTIAL, {"correct": ["correct", "partial"]}, 0.9, id="correct"),
        pytest.param(
            Boolean(),
            {"type": "boolean", "probability": 0.37},
            {"correct": False},
            0.63,
            id="false",
        ),
    ],
)
def test_an_answer_becomes_a_score(
    question: Question, answer: dict[str, object], settings: dict[str, Any], score: float
) -> None:
    """The projections are what the whole scorer is about."""
    scorer = create_classifier_scorer("s", classifier(question, answer), "q", output, **settings)
    assert scorer.run_sync(output="text").score == pytest.approx(score, abs=1e-15)


@pytest.mark.parametrize(
    ("question", "answer", "settings", "reason"),
    [
        pytest.param(
            CORRECTNESS,
            PARTIAL,
            {"scores": HALVES},
            "Question 'q' was answered 'partial', which scores 0.5.",
            id="44 choice",
        ),
        pytest.param(
            levels(3),
            {"type": "score", "score": 1.5},
            {},
            "Question 'q' was answered with level 1.5 of 2.",
            id="score: the raw level",
        ),
        pytest.param(
            Boolean(),
            {"type": "boolean", "probability": 0.37},
            {},
            "Question 'q': the probability of true is 0.37.",
            id="boolean",
        ),
        pytest.param(
            CORRECTNESS,
            PARTIAL,
            {"scores": HALVES, "projection": "expected"},
            "Question 'q' was answered 'partial', and the expected score is 0.6.",
            id="expected",
        ),
        pytest.param(
            CORRECTNESS,
            PARTIAL,
            {"correct": "correct"},
            "Question 'q': the probability of correct is 0.3.",
            id="correct",
        ),
    ],
)
def test_the_reason_names_question_answer_and_number(
    question: Question, answer: dict[str, object], settings: dict[str, Any], reason: str
) -> None:
    """A reason must let a reader check the number."""
    scorer = create_classifier_scorer("s", classifier(question, answer), "q", output, **settings)
    assert scorer.run_sync(output="text").reason == reason


def test_row_44_the_evidence_is_the_answer_with_everything_it_came_with() -> None:
    """The answer is worth nothing without what it was made of."""

    def respond(_: DecisionRequest) -> DecisionResponse:
        return DecisionResponse(
            {"q": PARTIAL},
            usage=Usage(input_tokens=7, output_tokens=1),
            warnings=("odd",),
            provider_metadata={"region": "eu"},
            response=ResponseInfo(id="r-1", model_id="judge-2"),
        )

    asked = Classifier("rubric", ScriptedModel(respond), {"q": CORRECTNESS})
    scorer = create_classifier_scorer("s", asked, "q", output, scores=HALVES)
    evidence = scorer.run_sync(output="text").analyze_step_result
    assert evidence is not None
    assert (evidence.classifier_id, evidence.question) == ("rubric", "q")
    assert evidence.answer.probabilities == PARTIAL["probabilities"]
    assert (evidence.usage.total_tokens, evidence.warnings) == (8, ("odd",))
    assert (evidence.response.id, evidence.response.model_id) == ("r-1", "judge-2")
    assert evidence.provider_metadata == {"region": "eu"}
    assert (evidence.projection.rule, evidence.projection.scores) == ("selected", HALVES)
    # Rows 9160 and 12876: what is stored must be an object, and survive as JSON.
    stored = evidence.model_dump_json()
    assert ClassifierEvidence.model_validate_json(stored) == evidence
    assert not {"headers", "body"} & set(json.loads(stored)["response"])
    assert "text" not in json.loads(stored)["response"]


def test_row_49_the_state_may_use_the_request_context() -> None:
    """What is asked about may depend on who asked."""
    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 1.0}})
    asked = Classifier("rubric", model, {"q": Boolean()})

    def with_policy(context: Context) -> JSON:
        assert context.run.request_context is not None
        return f"{context.run.request_context['policy']}: {context.run.output}"

    scorer = create_classifier_scorer("s", asked, "q", with_policy)
    scorer.run_sync(output="answer", request_context={"policy": "cite sources"})
    assert model.requests[0].state == "cite sources: answer"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        # The reference lists missing options as non-numeric too; here each problem is named once.
        pytest.param({"correct": 1}, "Missing: partial, incorrect$", id="50 missing"),
        pytest.param(
            {"correct": 2, "partial": 0.5, "incorrect": -1},
            "Outside 0-1: correct, incorrect$",
            id="51 outside",
        ),
        pytest.param({**HALVES, "other": 1}, "Unknown: other$", id="52 unknown"),
        pytest.param({**HALVES, "partial": float("nan")}, "Non-numeric: partial$", id="52 nan"),
        pytest.param({**HALVES, "partial": "0.5"}, "Non-numeric: partial$", id="52 text"),
        pytest.param({**HALVES, "partial": True}, "Non-numeric: partial$", id="52 boolean"),
        pytest.param(
            {"correct": "x", "partial": 3, "extra": 1},
            "Missing: incorrect. Unknown: extra. Non-numeric: correct. Outside 0-1: partial$",
            id="all in one message",
        ),
        pytest.param(None, "needs scores", id="none"),
    ],
)
def test_the_scores_of_a_choice_are_exact_and_complete(scores: Any, message: str) -> None:
    """An option without a score would be a silent zero."""
    asked = classifier(CORRECTNESS, PARTIAL)
    with pytest.raises(TypeError, match=message):
        create_classifier_scorer("s", asked, "q", output, scores=scores)


@pytest.mark.parametrize(
    ("question", "settings", "message"),
    [
        pytest.param(levels(3), {"scores": HALVES}, "scores is for choice", id="scores of levels"),
        pytest.param(Boolean(), {"scores": HALVES}, "scores is for choice", id="scores of yes/no"),
        pytest.param(levels(3), {"projection": "expected"}, "projection is for", id="expected"),
        pytest.param(CORRECTNESS, {"scores": HALVES, "projection": "mean"}, "'mean'", id="rule"),
        pytest.param(CORRECTNESS, {"correct": "nope"}, "unknown option 'nope'", id="unknown"),
        pytest.param(CORRECTNESS, {"correct": []}, "must name some", id="no option"),
        pytest.param(CORRECTNESS, {"correct": list(HALVES)}, "and not all", id="every option"),
        pytest.param(
            CORRECTNESS, {"correct": "correct", "scores": HALVES}, "not both", id="two rules"
        ),
    ],
)
def test_a_projection_that_does_not_fit_is_refused(
    question: Question, settings: dict[str, Any], message: str
) -> None:
    """A setting that has no effect would be a mistake without a word."""
    with pytest.raises(ScorerDefinitionError, match=message):
        create_classifier_scorer("s", classifier(question, {}), "q", output, **settings)


def test_row_54_an_unknown_question_is_refused_with_a_suggestion() -> None:
    """A typing error should be found before anything runs."""
    asked = Classifier("rubric", ScriptedModel(lambda _: {}), {"helpful": Boolean()})
    with pytest.raises(TypeError, match="unknown question 'helpfull': did you mean 'helpful'"):
        create_classifier_scorer("s", asked, "helpfull", output)


def test_row_54_a_classifier_without_questions_is_refused() -> None:
    """Questions given with each call are not the scorer's to know."""
    asked = Classifier("rubric", ScriptedModel(lambda _: {}))
    with pytest.raises(TypeError, match="'rubric': the classifier was built without questions"):
        create_classifier_scorer("s", asked, "q", output)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"classifier": 3}, "classifier must be a Classifier or the id", id="number"),
        pytest.param({"classifier": " "}, "classifier must be a Classifier or the id", id="blank"),
        pytest.param({"state": "output"}, "state must be a function", id="no function"),
    ],
)
def test_other_types_are_refused(changes: dict[str, Any], message: str) -> None:
    """They would fail at the first run only."""
    given: dict[str, Any] = {"classifier": "rubric", "state": output} | changes
    with pytest.raises(ScorerDefinitionError, match=message):
        create_classifier_scorer("s", given["classifier"], "q", given["state"])


def test_row_55_a_registered_classifier_is_found_when_the_scorer_runs() -> None:
    """Scorers may be defined before the classifiers that they use."""
    registry = Registry()
    scorer = create_classifier_scorer("s", "rubric", "q", output, registry=registry, scores=HALVES)
    registry.add_classifier(classifier(CORRECTNESS, PARTIAL), key="any")
    assert scorer.run_sync(output="text").score == 0.5


def test_row_55_a_registry_hands_out_scorers_that_find_their_classifier() -> None:
    """As in the reference, registering the scorer is enough."""
    scorer = create_classifier_scorer("s", "rubric", "q", output, scores=HALVES)
    registry = Registry(
        scorers={"quality": scorer}, classifiers={"r": classifier(CORRECTNESS, PARTIAL)}
    )
    bound = registry.get_scorer("quality")
    assert bound is registry.get_scorer_by_id("s")
    assert bound is not scorer


def test_row_56_an_id_without_a_registry_fails_at_analyze_and_says_how_to_fix_it() -> None:
    """The message names both, because logs hold messages only."""
    scorer = create_classifier_scorer("quality", "rubric", "q", output)
    with pytest.raises(ScorerRunError, match=r"'quality'.*'rubric'.*is in no registry: give") as e:
        scorer.run_sync(output="text")
    assert (e.value.failed_step, e.value.result) == ("analyze", None)


def test_row_57_an_unknown_id_keeps_the_registrys_own_error_as_the_causes_cause() -> None:
    """What was known there helps to find the typing error."""
    registry = Registry(classifiers={"a": classifier(CORRECTNESS, PARTIAL, id="rubrics")})
    scorer = create_classifier_scorer("s", "rubric", "q", output, registry=registry)
    with pytest.raises(ScorerRunError, match="its registry does not hold") as caught:
        scorer.run_sync(output="text")
    cause = caught.value.cause
    assert isinstance(cause, NotRegistered)
    assert str(cause.__cause__) == "unknown classifier id 'rubric': did you mean 'rubrics'?"


def test_a_registered_classifier_that_does_not_fit_fails_at_analyze() -> None:
    """By id, the check can only come when the scorer runs."""
    registry = Registry(classifiers={"r": classifier(CORRECTNESS, PARTIAL)})
    scorer = create_classifier_scorer("s", "rubric", "other", output, registry=registry)
    with pytest.raises(ScorerRunError, match="unknown question 'other'") as caught:
        scorer.run_sync(output="text")
    assert caught.value.failed_step == "analyze"
    assert isinstance(caught.value.cause, ScorerDefinitionError)


def test_row_59_a_state_that_raises_fails_at_analyze() -> None:
    """The error of the user's own function is the cause."""

    def broken(_: Context) -> JSON:
        raise KeyError("answer")

    scorer = create_classifier_scorer("s", classifier(Boolean(), {}), "q", broken)
    with pytest.raises(ScorerRunError, match="failed at analyze") as caught:
        scorer.run_sync(output="text")
    assert isinstance(caught.value.cause, KeyError)


def test_row_59_an_asynchronous_state_is_waited_for() -> None:
    """What is judged may have to be fetched."""
    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 1.0}})
    asked = Classifier("rubric", model, {"q": Boolean()})

    async def fetched(context: Context) -> JSON:
        return {"answer": str(context.run.output)}

    create_classifier_scorer("s", asked, "q", fetched).run_sync(output="text")
    assert model.requests[0].state == {"answer": "text"}


def test_a_failed_evaluation_fails_at_analyze_with_the_providers_error() -> None:
    """Its status and whether it may be retried must survive."""

    def refuse(_: DecisionRequest) -> Mapping[str, Any]:
        raise ProviderError("no key", status=401)

    asked = Classifier("rubric", ScriptedModel(refuse), {"q": Boolean()})
    with pytest.raises(ScorerRunError, match="no key") as caught:
        create_classifier_scorer("s", asked, "q", output).run_sync(output="text")
    assert isinstance(caught.value.cause, ProviderError)
    assert (caught.value.cause.status, caught.value.failed_step) == (401, "analyze")


def test_max_retries_reach_the_classifier() -> None:
    """Retries of their own would multiply."""
    calls = list[int]()

    def busy(_: DecisionRequest) -> Mapping[str, Any]:
        calls.append(1)
        raise ProviderError("busy", status=503, retryable=True, retry_after=0.0)

    asked = Classifier("rubric", ScriptedModel(busy), {"q": Boolean()})
    for retries in (0, 1):
        calls.clear()
        scorer = create_classifier_scorer("s", asked, "q", output, max_retries=retries)
        with pytest.raises(ScorerRunError, match="busy"):
            scorer.run_sync(output="text")
        assert len(calls) == retries + 1


def test_an_evaluation_without_the_answer_fails_at_analyze() -> None:
    """A subclass may leave one out, and a missing answer is no zero."""

    class Forgetful(Classifier):
        async def evaluate(self, *given: Any, **options: Any) -> Evaluation:
            evaluation = await super().evaluate(*given, **options)
            return evaluation.model_copy(update={"answers": {}})

    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 1.0}})
    asked = Forgetful("rubric", model, {"q": Boolean()})
    with pytest.raises(ScorerRunError, match="gave no answer to question 'q'") as caught:
        create_classifier_scorer("s", asked, "q", output).run_sync(output="text")
    assert isinstance(caught.value.cause, InvalidAnswer)


def test_no_verdict_is_not_scorable_and_keeps_its_evidence() -> None:
    """A refusal is no bad score, and must be there to be looked at."""
    scorer = create_classifier_scorer("s", classifier(Boolean(), NO_VERDICT), "q", output)
    result = scorer.run_sync(output="text")
    assert (result.score, result.reason) == (None, None)
    assert result.not_scorable is not None
    assert result.not_scorable.reason == (
        "question 'q' has no verdict (refusal): the model declined"
    )
    assert result.not_scorable.no_verdict
    assert result.analyze_step_result is not None
    assert result.analyze_step_result.answer.type == "no_verdict"
    assert result.analyze_step_result.score is None


def test_an_expected_score_needs_probabilities() -> None:
    """A choice alone has no expectation; taking its score would be a guess."""
    answer = {"type": "choice", "choice": "partial"}
    scorer = create_classifier_scorer(
        "s", classifier(CORRECTNESS, answer), "q", output, scores=HALVES, projection="expected"
    )
    with pytest.raises(ScorerRunError, match="'expected' needs the probability of every option"):
        scorer.run_sync(output="text")


def test_evidence_can_be_projected_anew_without_the_model() -> None:
    """Scores of options are a matter of opinion; asking again costs money."""
    scorer = create_classifier_scorer(
        "s", classifier(CORRECTNESS, PARTIAL), "q", output, scores=HALVES
    )
    evidence = scorer.run_sync(output="text").analyze_step_result
    assert evidence is not None
    strict = evidence.reprojected(scores={"correct": 1, "partial": 0, "incorrect": 0})
    assert (evidence.score, strict.score, strict.answer) == (0.5, 0.0, evidence.answer)
    assert evidence.reprojected(correct="correct").score == 0.3


def test_prepare_run_changes_what_is_judged() -> None:
    """Long runs are cut before anything is asked."""
    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 1.0}})
    asked = Classifier("rubric", model, {"q": Boolean()})

    def shortened(run: ScorerRun[Any, Any]) -> ScorerRun[Any, Any]:
        return ScorerRun(run_id=run.run_id, input=None, output=run.output[:3])

    create_classifier_scorer("s", asked, "q", output, prepare_run=shortened).run_sync(output="text")
    assert model.requests[0].state == "tex"


def test_its_settings_can_be_read() -> None:
    """A report names what was measured, and which end is good."""
    scorer = create_classifier_scorer(
        "s", "rubric", "q", output, name="Quality", type="agent", direction="lower"
    )
    assert (scorer.id, scorer.name, scorer.type, scorer.direction) == (
        "s",
        "Quality",
        "agent",
        "lower",
    )
    assert scorer.description == "Scores a classifier's answer to the question 'q'."
    assert [step.name for step in scorer.steps()] == [
        "analyze",
        "generate_score",
        "generate_reason",
    ]
    assert (scorer.classifier, scorer.question) == ("rubric", "q")


def test_what_a_language_model_showed_is_in_the_evidence() -> None:
    """Label mass, bounds and method come from the logprobs, and the score's own bounds too."""
    shown = {"A": math.log(0.5), "B": math.log(0.3), "the": math.log(0.15)}
    asked = Classifier("rubric", ScriptedLanguageModel(lambda _, __: shown), {"q": CORRECTNESS})
    scorer = create_classifier_scorer("s", asked, "q", output, scores=HALVES, projection="expected")
    result = scorer.run_sync(output="text")
    evidence = result.analyze_step_result
    assert evidence is not None
    assert evidence.method == "logprobs"
    assert evidence.label_mass == pytest.approx(0.8)
    assert evidence.answer.evidence is not None
    assert evidence.answer.evidence.readout == "letters"
    assert evidence.score_bounds is not None
    low, high = evidence.score_bounds
    assert result.score is not None
    assert low <= result.score <= high
    assert high - low > 0.01  # one option was not among the alternatives: bounded, not measured


def test_nothing_to_judge_is_no_score() -> None:
    """A target that returned nothing passed its gate: a model rates the word "null" as well."""
    model = ScriptedModel(lambda _: pytest.fail("there is nothing to ask"))
    asked = Classifier("rubric", model, {"q": Boolean()})

    def whole(context: Context) -> JSON:
        found: JSON = context.run.output
        return found

    scorer = create_classifier_scorer("s", asked, "q", whole)

    with pytest.raises(ScorerRunError, match="state gave None, so there is nothing to judge"):
        scorer.run_sync(output=None)
