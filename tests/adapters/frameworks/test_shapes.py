"""Results in other tools' shapes, as plain dicts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from classify import Choice, Classifier
from classify.adapters.frameworks import (
    assert_score,
    to_braintrust,
    to_inspect,
    to_langsmith,
    to_mlflow,
    to_phoenix,
    to_promptfoo,
    to_pydantic_evals,
)
from classify.adapters.scorers import (
    ScorerResult,
    StepContext,
    create_classifier_scorer,
    create_scorer,
    not_scorable,
)
from classify.adapters.scorers.measures import toxicity
from classify.errors import InvalidInput
from classify.testing import ScriptedModel

AnyResult = ScorerResult[Any, Any, Any, Any]
TONES = {"good": 0.75, "bad": 0.25}


@pytest.fixture
def choice() -> AnyResult:
    """Return a classifier scorer's result: good, which scores .9."""
    model = ScriptedModel(
        lambda request: {"tone": {"type": "choice", "choice": "good", "probabilities": TONES}}
    )
    classifier = Classifier("c", model, {"tone": Choice(criteria={"good": None, "bad": None})})
    scorer = create_classifier_scorer(
        "tone", classifier, "tone", lambda context: "state", scores={"good": 0.9, "bad": 0.0}
    )
    return scorer.run_sync(output="secret text", run_id="run-1")


@pytest.fixture
def toxic() -> AnyResult:
    """Return a measure's result where lower is better: .2."""
    model = ScriptedModel(lambda request: {"toxic": {"type": "boolean", "probability": 0.2}})
    return toxicity(model).run_sync(output="Hello there.")


@pytest.fixture
def nothing() -> AnyResult:
    """Return a result without a score."""
    return (
        create_scorer("empty")
        .generate_score(lambda context: not_scorable("no output"))
        .run_sync(output="")
    )


def test_braintrust_has_a_name_a_score_and_metadata(choice: AnyResult) -> None:
    """The reason goes where Braintrust shows one."""
    shape = to_braintrust(choice)

    assert (shape["name"], shape["score"]) == ("tone", 0.9)
    assert shape["metadata"]["rationale"] == choice.reason
    assert shape["metadata"]["evidence"]["answer"]["probabilities"] == TONES


def test_phoenix_has_label_kind_and_direction(choice: AnyResult, toxic: AnyResult) -> None:
    """The option is the label, and lower is said to be better."""
    shape, lower = to_phoenix(choice), to_phoenix(toxic)

    assert (shape["label"], shape["kind"], shape["direction"]) == ("good", "llm", "maximize")
    assert (lower["label"], lower["kind"], lower["direction"]) == (None, "llm", "minimize")


def test_langsmith_has_key_score_and_comment(choice: AnyResult) -> None:
    """A name replaces the scorer's id."""
    shape = to_langsmith(choice, name="friendly")

    assert (shape["key"], shape["score"], shape["comment"]) == ("friendly", 0.9, choice.reason)


def test_mlflow_metadata_holds_texts_only(choice: AnyResult) -> None:
    """MLflow stores text -> text; the model that judged is the source."""
    shape = to_mlflow(choice)

    assert (shape["value"], shape["source"]["source_type"]) == (0.9, "LLM_JUDGE")
    assert shape["source"]["source_id"] == "scripted"
    assert all(isinstance(value, str) for value in shape["metadata"].values())
    assert json.loads(shape["metadata"]["evidence"])["answer"]["choice"] == "good"


@pytest.mark.parametrize(
    ("threshold", "passed"),
    [pytest.param(0.2, True, id="at the threshold"), pytest.param(0.1, False, id="above it")],
)
def test_promptfoo_turns_lower_scores_around(
    toxic: AnyResult, threshold: float, passed: bool
) -> None:
    """Its score is higher-is-better; the named score stays as it is."""
    shape = to_promptfoo(toxic, threshold=threshold)

    assert (shape["pass"], shape["score"]) == (passed, 0.8)
    assert shape["namedScores"] == {"toxicity": 0.2}
    assert not {"not_scorable", "graderError"} & shape["metadata"].keys()


def test_inspect_and_pydantic_take_the_value(choice: AnyResult) -> None:
    """The option is Inspect's answer."""
    assert (to_inspect(choice)["value"], to_inspect(choice)["answer"]) == (0.9, "good")
    assert to_pydantic_evals(choice) == {"value": 0.9, "reason": choice.reason}


@pytest.mark.parametrize(
    ("convert", "field", "value"),
    [
        pytest.param(to_braintrust, "score", None, id="braintrust"),
        pytest.param(to_phoenix, "score", None, id="phoenix"),
        pytest.param(to_langsmith, "score", None, id="langsmith"),
        pytest.param(to_mlflow, "error", "not scorable: no output", id="mlflow"),
        pytest.param(to_inspect, "reason", "scoring_failed", id="inspect"),
        pytest.param(to_pydantic_evals, "value", "not_scorable", id="pydantic-evals"),
    ],
)
def test_no_score_is_never_zero(
    nothing: AnyResult, convert: Callable[[AnyResult], dict[str, Any]], field: str, value: object
) -> None:
    """Each tool is told in its own way."""
    assert convert(nothing)[field] == value


def test_no_score_does_not_pass_in_promptfoo(nothing: AnyResult) -> None:
    """Promptfoo takes no result without a number: fail, say why, and mark it as its graders do."""
    shape = to_promptfoo(nothing, threshold=0.0)

    assert (shape["pass"], shape["reason"]) == (False, "not scorable: no output")
    assert (shape["metadata"]["not_scorable"], shape["namedScores"]) == ("no output", {})
    assert (shape["metadata"]["graderError"], shape["score"]) == (True, 0.0)
    assert math.isnan(to_inspect(nothing)["value"])


@pytest.mark.parametrize(
    "convert",
    [to_braintrust, to_phoenix, to_langsmith, to_mlflow, to_inspect, to_pydantic_evals],
    ids=lambda convert: convert.__name__,
)
def test_shapes_are_json_without_the_text_judged(
    choice: AnyResult, convert: Callable[[AnyResult], dict[str, Any]]
) -> None:
    """They are sent to services: the output stays here."""
    assert "secret" not in json.dumps(convert(choice), allow_nan=False)


def test_any_analysis_becomes_json() -> None:
    """A step may return what no JSON writer knows."""

    def keep(context: StepContext[Any, Any, None, None]) -> object:
        return {"seen": {1, 2}}

    result = create_scorer("x").analyze(keep).generate_score(lambda context: 1.0).run_sync()

    assert to_braintrust(result)["metadata"]["evidence"] == {"seen": "{1, 2}"}


def test_a_threshold_outside_the_scores_is_refused(choice: AnyResult) -> None:
    """It could never fail, or never pass."""
    with pytest.raises(InvalidInput, match=r"threshold must be from 0 to 1, got 2"):
        to_promptfoo(choice, threshold=2)


def test_assert_score_passes_within_its_bounds(choice: AnyResult) -> None:
    """The ends belong to them."""
    assert_score(choice, at_least=0.9, at_most=0.9)


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        pytest.param({"at_least": 0.95}, "wanted at least 0.95", id="too low"),
        pytest.param({"at_most": 0.5}, "wanted at most 0.5", id="too high"),
    ],
)
def test_assert_score_says_what_was_wanted(
    choice: AnyResult, bounds: dict[str, float], wanted: str
) -> None:
    """And gives the reason."""
    with pytest.raises(AssertionError, match=f"tone scored 0.9, {wanted}\nQuestion 'tone'"):
        assert_score(choice, **bounds)


def test_assert_score_lists_a_measures_items(toxic: AnyResult) -> None:
    """The claim that failed is what one looks for."""
    with pytest.raises(AssertionError, match=r"toxic: true 0\.200, false 0\.800  'Hello there\.'"):
        assert_score(toxic, at_most=0.1)


def test_assert_score_fails_without_a_score(nothing: AnyResult) -> None:
    """No score is no pass."""
    with pytest.raises(AssertionError, match=r"empty has no score \(not scorable: no output\)"):
        assert_score(nothing, at_least=0.0)


def test_assert_score_wants_a_bound(choice: AnyResult) -> None:
    """An assertion that cannot fail checks nothing."""
    with pytest.raises(InvalidInput, match="give at_least"):
        assert_score(choice)
