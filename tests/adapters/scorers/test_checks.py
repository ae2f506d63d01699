"""Checks without a model: the reference's list, with the values of its rules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers import checks
from classify.adapters.scorers.checks.words import dice
from classify.adapters.scorers.evals import run_evals_sync
from classify.adapters.scorers.result import ScorerResult
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.errors import InvalidInput

HELLO: list[dict[str, Any]] = [
    {"role": "user", "content": "secret"},
    {"role": "assistant", "content": "Hello"},
    {"role": "assistant", "content": "World"},
]


def called(*names: str) -> list[dict[str, Any]]:
    """Return a message that records calls that ended well."""
    parts = [
        {
            "type": "tool-invocation",
            "toolInvocation": {"toolName": n, "toolCallId": str(i), "state": "result", "result": 1},
        }
        for i, n in enumerate(names)
    ]
    return [{"role": "assistant", "content": {"format": 2, "parts": parts}}]


def run(check: ScorerLike, output: Any, input: Any = None) -> ScorerResult[Any, Any, Any, Any]:
    """Run a check."""
    return asyncio.run(check.run(input=input, output=output))


def found(result: ScorerResult[Any, Any, Any, checks.Finding]) -> Any:
    """Return the details of what a check found."""
    assert result.analyze_step_result is not None
    return result.analyze_step_result.details


@pytest.mark.parametrize(
    ("check", "output", "score"),
    [
        pytest.param(checks.includes("hello world"), HELLO, 1, id="includes-joined-by-space"),
        pytest.param(checks.includes("HELLO"), "hello", 1, id="includes-any-case"),
        pytest.param(checks.includes("HELLO", ignore_case=False), "hello", 0, id="includes-case"),
        pytest.param(checks.includes("secret"), HELLO, 0, id="includes-not-the-user"),
        pytest.param(checks.includes("a"), None, 0, id="includes-nothing-said"),
        pytest.param(checks.excludes("bye"), HELLO, 1, id="excludes"),
        pytest.param(checks.excludes("WORLD"), HELLO, 0, id="excludes-any-case"),
        pytest.param(checks.equals("helloworld"), HELLO, 1, id="equals-joined-without"),
        pytest.param(checks.equals("hello"), {"text": "Hello"}, 1, id="equals-object"),
        pytest.param(checks.equals("hello"), "hello!", 0, id="equals-more"),
        pytest.param(checks.matches("l+o W"), HELLO, 1, id="matches"),
        pytest.param(checks.matches("Hello", exact=True), HELLO, 0, id="matches-exact"),
        pytest.param(checks.matches(r"H.*d", exact=True), HELLO, 1, id="matches-all"),
        pytest.param(checks.similarity("sealed"), "healed", 0.8, id="similarity"),
        pytest.param(checks.similarity("sealed", threshold=0.8), "healed", 1, id="similar-enough"),
        pytest.param(checks.similarity("sealed", threshold=0.81), "healed", 0, id="not-enough"),
        pytest.param(checks.called_tool("a"), called("b", "a"), 1, id="called"),
        pytest.param(checks.called_tool("a", times=2), called("a"), 0, id="called-too-rarely"),
        pytest.param(checks.called_tool("a", times=2), called("a", "a", "a"), 1, id="called-more"),
        pytest.param(checks.did_not_call("a"), called("b"), 1, id="not-called"),
        pytest.param(checks.did_not_call("b"), called("b"), 0, id="called-it"),
        pytest.param(checks.tool_order(["a", "c"]), called("a", "b", "c"), 1, id="order"),
        pytest.param(checks.tool_order(["c", "a"]), called("a", "b", "c"), 0, id="wrong-order"),
        pytest.param(checks.tool_order(["a", "a"]), called("a"), 0, id="order-twice"),
        pytest.param(checks.max_tool_calls(2), called("a", "b"), 1, id="at-most"),
        pytest.param(checks.max_tool_calls(1), called("a", "b"), 0, id="too-many"),
        pytest.param(checks.used_no_tools(), "hi", 1, id="no-tools"),
        pytest.param(checks.used_no_tools(), called("a"), 0, id="a-tool"),
        pytest.param(checks.no_tool_errors(), called("a"), 1, id="no-errors"),
        pytest.param(checks.no_tool_errors(), "hi", 1, id="no-calls"),
        pytest.param(checks.tool_call_accuracy("a"), called("b", "a"), 1, id="accuracy"),
        pytest.param(checks.tool_call_accuracy("a"), "hi", 0, id="accuracy-no-calls"),
        pytest.param(
            checks.tool_call_accuracy("a", strict=True), called("b", "a"), 0, id="accuracy-strict"
        ),
        pytest.param(
            checks.tool_call_accuracy("a", strict=True), called("a"), 1, id="accuracy-only"
        ),
        pytest.param(
            checks.tool_call_accuracy(expected_order=["a", "c"]),
            called("a", "b", "c"),
            1,
            id="accuracy-order",
        ),
        pytest.param(
            checks.tool_call_accuracy(expected_order=["a", "c"], strict=True),
            called("a", "b", "c"),
            0,
            id="accuracy-order-strict",
        ),
    ],
)
def test_a_check_gives_the_reference_s_score(check: ScorerLike, output: Any, score: float) -> None:
    """And a reason; less than nothing is known of a number alone."""
    result = run(check, output)
    assert result.score == pytest.approx(score)
    assert result.reason


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"state": "call"}, id="unfinished"),
        pytest.param({"state": "output-error", "errorText": "no"}, id="thrown"),
        pytest.param({"state": "result", "result": {}, "isError": True}, id="flagged"),
        pytest.param({"state": "result", "result": {"error": "no"}}, id="error-in-result"),
    ],
)
def test_every_form_of_a_failed_call_is_seen(call: dict[str, Any]) -> None:
    """One that ended well beside it hides nothing (reference issue 23460)."""
    good, bad = called("good"), called("bad")
    part = {"type": "tool-invocation"}
    invocation = {"toolName": "bad", "toolCallId": "x", **call}
    bad[0]["content"]["parts"] = [{**part, "toolInvocation": invocation}]
    result = run(checks.no_tool_errors(), good + bad)
    assert result.score == 0
    assert found(result) == {"failed": ["bad"]}


@pytest.mark.parametrize(
    ("check", "input", "output", "score"),
    [
        pytest.param(checks.completeness(), "sort the list", "It sorts lists.", 1.0, id="forms"),
        pytest.param(checks.completeness(), "red green blue", "Red, blue.", 2 / 3, id="two-of-3"),
        pytest.param(checks.completeness(), "art", "artistic", 0.0, id="short-words-exactly"),
        pytest.param(checks.completeness(), "", "", 1.0, id="completeness-both-empty"),
        pytest.param(checks.keyword_coverage(), "sort the list", "Sorts a list", 0.5, id="words"),
        pytest.param(checks.keyword_coverage(), "The API's", "the API\u2019s", 1.0, id="mark"),
        pytest.param(checks.keyword_coverage(), "", "", 1.0, id="coverage-both-empty"),
        pytest.param(checks.keyword_coverage(), "red", "", 0.0, id="coverage-nothing-said"),
        pytest.param(checks.content_similarity(), "Hea led", "sealed", 0.8, id="content"),
        pytest.param(
            checks.content_similarity(ignore_case=False), "AB", "ab", 0.0, id="content-case"
        ),
        pytest.param(
            checks.content_similarity(ignore_whitespace=False), "a b", "ab", 0.0, id="content-space"
        ),
        pytest.param(checks.textual_difference(), "abcd", "bcde", 0.75, id="ratio"),
        pytest.param(checks.textual_difference(), "", "", 1.0, id="ratio-empty"),
        pytest.param(
            checks.textual_difference(), "ab" * 300, "ab" * 300 + "c", 1200 / 1201, id="ratio-long"
        ),
        pytest.param(checks.tone_consistency(), "This is great.", "It is bad.", 0.0, id="turned"),
        pytest.param(checks.tone_consistency(), "Great!", "Not bad, thanks.", 1.0, id="same-tone"),
        pytest.param(checks.tone_consistency(), None, "Great. Awful.", 0.0, id="unsteady"),
        pytest.param(checks.tone_consistency(), None, "Great. Good.", 1.0, id="steady"),
        pytest.param(checks.tone_consistency(), None, "Great. A table.", 0.75, id="variance"),
        pytest.param(checks.tone_consistency(sentiment=len), "abc", "abcd", 0.0, id="own"),
    ],
)  # fmt: skip
def test_a_measure_gives_its_formula_s_value(
    check: ScorerLike, input: Any, output: str, score: float
) -> None:
    """Values by hand; 0.75 is difflib's own documented example."""
    assert run(check, output, input).score == pytest.approx(score)


def test_an_input_without_keywords_is_not_scorable() -> None:
    """We differ: the reference divides by nothing and takes 0."""
    for check in (checks.completeness(), checks.keyword_coverage()):
        assert run(check, "red", "the").not_scorable is not None


def test_what_was_missed_is_named() -> None:
    """The number alone helps nobody to fix it."""
    details = found(run(checks.keyword_coverage(), "red", "red or blue"))
    assert details == {"covered": ["red"], "missing": ["blue"]}


@given(st.text(max_size=20), st.text(max_size=20))
def test_dice_is_a_symmetric_share(first: str, second: str) -> None:
    """1 for the same text, and the same both ways round."""
    value = dice(first, second)
    assert 0.0 <= value <= 1.0
    assert value == dice(second, first)
    assert dice(first, first) == 1.0


@given(
    st.lists(st.sampled_from(["sort", "sorted", "red", "list"]), min_size=1).map(" ".join),
    st.lists(st.sampled_from(["sort", "sorted", "red", "lists"])).map(" ".join),
)
def test_completeness_is_never_below_keyword_coverage(asked: str, answer: str) -> None:
    """It counts all that the other counts, and other forms of a word too."""
    lenient, exact = checks.completeness(), checks.keyword_coverage()
    high, low = run(lenient, answer, asked).score, run(exact, answer, asked).score
    assert high is not None
    assert low is not None
    assert high >= low


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: checks.includes(""), "expected must be a text", id="includes-empty"),
        pytest.param(lambda: checks.matches("("), "no regular expression", id="pattern"),
        pytest.param(lambda: checks.similarity("a", threshold=2), "from 0 to 1", id="threshold"),
        pytest.param(lambda: checks.called_tool("a", times=0), "times must be", id="times"),
        pytest.param(lambda: checks.max_tool_calls(-1), "most must be", id="most"),
        pytest.param(lambda: checks.tool_order("abc"), "must be a list", id="order-text"),
        pytest.param(lambda: checks.tool_order([]), "must be a list", id="order-empty"),
        pytest.param(lambda: checks.tool_call_accuracy(), "needs either", id="accuracy-none"),
        pytest.param(
            lambda: checks.tool_call_accuracy("a", expected_order=["a"]), "either", id="both"
        ),
    ],
)  # fmt: skip
def test_a_check_that_could_not_fail_or_never_hold_is_refused(make: Any, message: str) -> None:
    """An empty text is in every text."""
    with pytest.raises(InvalidInput, match=message):
        make()


def test_two_checks_of_a_kind_need_an_id_each() -> None:
    """Hence the option: their scores would be mixed."""
    two = [checks.includes("a"), checks.includes("b", id="b")]
    report = run_evals_sync(_same, [{"input": "ab"}], gates=two)
    assert report.verdict == "passed"
    with pytest.raises(InvalidInput, match="two scorers with the id 'includes'"):
        run_evals_sync(_same, [{"input": "ab"}], gates=[two[0], checks.includes("c")])


def _same(input: str) -> str:
    return input
