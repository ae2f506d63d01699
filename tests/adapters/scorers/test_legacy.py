"""The older scorer: its own arguments, its own result fields (part 1.11 of the reference)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.legacy import LegacyScorer
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.errors import InvalidInput

Step = Callable[[dict[str, Any]], Any]


def analyze(_: dict[str, Any]) -> dict[str, Any]:
    """Score a half."""
    return {"score": 0.5}


def test_each_function_gets_one_flat_record_with_the_results_before_it() -> None:
    """Not a run and results, as today."""
    seen = dict[str, dict[str, Any]]()

    def extract(record: dict[str, Any]) -> dict[str, Any]:
        seen["extract"] = record
        return {"results": ["claim"]}

    async def scored(record: dict[str, Any]) -> dict[str, Any]:
        seen["analyze"] = record
        return {"score": 0.25, "results": {"verdicts": [1]}}

    def reason(record: dict[str, Any]) -> dict[str, Any]:
        seen["reason"] = record
        return {"reason": f"{record['score']} of {record['extractStepResult']}"}

    scorer = LegacyScorer(
        "old", description="d", extract=extract, analyze=scored, reason=reason, metadata={"v": 1}
    )
    result = scorer.run_sync(
        input=[{"role": "user", "content": "hello"}],
        output={"text": "hi"},
        run_id="r",
        additional_context={"a": 1},
        runtime_context={"user": "x"},
    )
    assert (result.run_id, result.score, result.reason) == ("r", 0.25, "0.25 of ['claim']")
    assert result.extract_step_result == ["claim"]
    assert result.analyze_step_result == {"verdicts": [1]}
    assert (result.request_context, result.metadata) == ({"user": "x"}, {"v": 1})
    assert seen["extract"]["input"] == [{"role": "user", "content": "hello"}]
    assert seen["extract"]["output"] == {"text": "hi"}
    assert seen["extract"]["extract_step_result"] is None
    assert seen["analyze"]["extract_step_result"] == seen["analyze"]["extractStepResult"]
    assert (seen["reason"]["score"], seen["reason"]["analyze_step_result"]) == (
        0.25,
        {"verdicts": [1]},
    )
    for record in seen.values():  # row 0.12: two names, one context
        assert record["runtimeContext"] == record["request_context"] == {"user": "x"}
        assert (record["runId"], record["additionalContext"]) == ("r", {"a": 1})


@pytest.mark.parametrize("name", ["result", "results"])
def test_row_0_12_both_names_of_analyzes_results_are_read(name: str) -> None:
    """The page says results, the stored type result."""
    scorer = LegacyScorer("old", analyze=lambda _: {"score": 1, name: ["x"]})
    assert scorer.run_sync(output="o").analyze_step_result == ["x"]


@pytest.mark.parametrize("name", ["runtime_context", "request_context"])
def test_the_context_has_two_names(name: str) -> None:
    """Older code says runtime, newer request."""
    seen = list[Any]()

    def look(record: dict[str, Any]) -> dict[str, Any]:
        seen.append((record["runtime_context"], record["requestContext"]))
        return {"score": 1}

    context: dict[str, Any] = {name: {"k": 1}}
    result = LegacyScorer("old", analyze=look).run_sync(output="o", **context)
    assert seen == [({"k": 1}, {"k": 1})]
    assert result.request_context == {"k": 1}


def test_two_contexts_at_once_are_refused() -> None:
    """Which one is meant would be a guess."""
    with pytest.raises(InvalidInput, match="request_context or, by its older name"):
        LegacyScorer("old", analyze=analyze).run_sync(request_context={}, runtime_context={})


def test_extract_and_reason_may_be_left_out() -> None:
    """Only analyze is needed, and the run gets an id."""
    result = LegacyScorer("old", analyze=analyze).run_sync(output="o")
    assert (result.score, result.reason, result.extract_step_result) == (0.5, None, None)
    assert len(result.run_id) == 36


def test_a_reason_may_be_none() -> None:
    """The stored type allows it."""
    scorer = LegacyScorer("old", analyze=analyze, reason=lambda _: None)
    assert scorer.run_sync(output="o").reason is None


def returning(value: object) -> Step:
    """Return a function that returns a value, whatever it is."""
    return lambda _: value


def broken(_: dict[str, Any]) -> dict[str, Any]:
    """Raise."""
    raise ArithmeticError("division by zero")


@pytest.mark.parametrize(
    ("functions", "step", "completed", "message"),
    [
        pytest.param({"extract": returning(3)}, "extract", (), "got 3", id="no object"),
        pytest.param({"analyze": returning({})}, "analyze", (), "with a score", id="no score"),
        pytest.param(
            {"analyze": returning({"score": "high"})}, "analyze", (), "a number", id="text"
        ),
        pytest.param(
            {"analyze": returning({"score": float("nan")})}, "analyze", (), "nan", id="nan"
        ),
        pytest.param({"analyze": broken}, "analyze", (), "division by zero", id="raised"),
        pytest.param(
            {"extract": returning({}), "analyze": broken},
            "analyze",
            ("extract",),
            "division by zero",
            id="after extract",
        ),
        pytest.param(
            {"reason": returning({"reason": 3})},
            "reason",
            ("analyze",),
            "with a reason",
            id="no text",
        ),
    ],
)
def test_a_function_that_fails_names_its_step(
    functions: dict[str, Any], step: str, completed: tuple[str, ...], message: str
) -> None:
    """The same error as of today's scorers."""
    given: dict[str, Any] = {"analyze": analyze, **functions}
    with pytest.raises(ScorerRunError, match=message) as caught:
        LegacyScorer("old", **given).run_sync(output="o")
    assert (caught.value.failed_step, caught.value.completed_steps) == (step, completed)


def test_a_score_of_zero_is_kept_where_the_reason_fails() -> None:
    """What the functions before it gave is not lost with the one that failed."""
    scorer = LegacyScorer(
        "old",
        extract=returning({"results": ["claim"]}),
        analyze=returning({"score": 0, "results": {"found": 1}}),
        reason=broken,
    )
    with pytest.raises(ScorerRunError, match="failed at reason") as caught:
        scorer.run_sync(input=["i"], output="o", run_id="r", runtime_context={"k": 1})
    result = caught.value.result
    assert result is not None
    assert (result.score, result.bounds) == (0.0, None)
    assert (result.preprocess_step_result, result.analyze_step_result) == (["claim"], {"found": 1})
    assert (result.run.run_id, result.run.input, result.run.output) == ("r", ["i"], "o")
    assert result.run.request_context == {"k": 1}


def test_nothing_is_kept_where_the_first_function_fails() -> None:
    """A partial result without any part would look like one."""
    with pytest.raises(ScorerRunError, match="failed at analyze") as caught:
        LegacyScorer("old", analyze=broken).run_sync(output="o")
    assert caught.value.result is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"name": " "}, "name must be a non-empty string", id="name"),
        pytest.param({"analyze": None}, "analyze must be a function", id="no analyze"),
        pytest.param({"reason": "because"}, "reason must be a function", id="reason"),
    ],
)
def test_an_unusable_definition_is_refused(given: dict[str, Any], message: str) -> None:
    """When it is built, not when it runs."""
    settings: dict[str, Any] = {"name": "old", "analyze": analyze} | given
    with pytest.raises(ScorerDefinitionError, match=message):
        LegacyScorer(settings.pop("name"), **settings)


def test_it_can_stand_wherever_todays_scorers_do() -> None:
    """Old scorers are attached to agents and workflows as new ones are."""
    old = LegacyScorer(
        "old", description="d", analyze=returning({"score": 4}), reason=returning({"reason": "so"})
    )
    scorer = old.as_scorer(bounds=(0, 5), direction="lower")
    assert isinstance(scorer, ScorerLike)
    assert (scorer.id, scorer.description, scorer.direction) == ("old", "d", "lower")
    result = scorer.run_sync(output="o", run_id="r", runtime_context={"k": 1})
    assert (result.score, result.raw_score, result.reason) == (0.8, 4.0, "so")
    assert result.analyze_step_result is not None
    assert result.analyze_step_result.request_context == {"k": 1}
    assert result.analyze_step_result.run_id == "r"
    silent = LegacyScorer("old", analyze=analyze).as_scorer().run_sync(output="o")
    assert (silent.score, silent.reason) == (0.5, None)
