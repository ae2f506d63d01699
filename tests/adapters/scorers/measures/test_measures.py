"""What each measure asks, and how the answers become its score."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from classify.adapters.scorers import ScorerResult
from classify.adapters.scorers.measures import (
    MeasureEvidence,
    answer_relevancy,
    answer_similarity,
    bias,
    completeness,
    context_precision,
    context_recall,
    context_relevance,
    faithfulness,
    hallucination,
    multi_turn_judge,
    noise_sensitivity,
    prompt_alignment,
    rubric,
    summarization,
    tool_call_accuracy,
    toxicity,
    trajectory_accuracy,
)
from classify.adapters.scorers.measures.measure import MeasureScorer
from classify.decision import DecisionRequest
from classify.questions import Boolean, Choice
from classify.testing import ScriptedModel

# option -> probability for a choice or a score, P(true) for a boolean, None for no verdict
Told = float | Mapping[str, float] | None


def judge(told: Mapping[str, Told]) -> ScriptedModel:
    """Return a model that knows an answer per "question: text it is asked about", or question."""

    def answer(request: DecisionRequest) -> dict[str, dict[str, object]]:
        [(name, question)] = request.questions.items()
        about = str(list(request.state.values())[-1])  # type: ignore[union-attr]
        known = told.get(f"{name}: {about}", told.get(name))
        if known is None:
            return {name: {"type": "no_verdict", "cause": "declined", "message": "not told"}}
        return {name: raw(question, known)}

    return ScriptedModel(answer)


def raw(question: object, known: float | Mapping[str, float]) -> dict[str, object]:
    """Return an answer of a decision model."""
    if isinstance(question, Boolean):
        return {"type": "boolean", "probability": known}
    assert isinstance(known, Mapping)
    if isinstance(question, Choice):
        everything = {option: known.get(option, 0.0) for option in question.options}
        choice = max(everything, key=everything.__getitem__)
        return {"type": "choice", "choice": choice, "probabilities": everything}
    levels = {str(level): known.get(str(level), 0.0) for level in range(3)}
    expected = sum(int(level) * p for level, p in levels.items())
    return {"type": "score", "score": expected, "probabilities": levels}


def evidence_of(result: ScorerResult[Any, Any, Any, Any]) -> MeasureEvidence:
    """Return what the measure saw."""
    evidence = result.analyze_step_result
    assert isinstance(evidence, MeasureEvidence)
    return evidence


CONTEXT = {"context": ["The sky is blue.", "Grass is green."]}
CALL = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Bo"}'}}
CALLED = [{"role": "assistant", "content": None, "tool_calls": [CALL]}]

CASES: list[tuple[str, Callable[[Any], MeasureScorer], dict[str, Any], dict[str, Told], float]] = [
    (
        "faithfulness",
        faithfulness,
        {"output": "A is so. B is so.", "request_context": CONTEXT},
        {"supported: A is so.": 0.9, "supported: B is so.": 0.2},
        0.55,
    ),
    (
        "hallucination",
        hallucination,
        {"output": "The sky is red.", "request_context": CONTEXT},
        {"contradicted: The sky is blue.": 0.9, "contradicted: Grass is green.": 0.1},
        0.5,
    ),
    (
        "summarization",
        summarization,
        {"input": "One. Two.", "output": "One."},
        {"supported": 0.9, "covered: One.": 1.0, "covered: Two.": 0.2},
        0.6,
    ),
    (
        "answer-relevancy",
        answer_relevancy,
        {"input": "Why?", "output": "Because. Well."},
        {"relevant: Because.": {"yes": 1.0}, "relevant: Well.": {"unsure": 0.5, "no": 0.5}},
        (1.0 + 0.3 * 0.5) / 2,
    ),
    (
        "answer-similarity",
        answer_similarity,
        {"output": "Bo came. He left.", "ground_truth": "Bo came."},
        {
            "match": {"semantic": 1.0},
            "added: Bo came.": {"agrees": 1.0},
            "added: He left.": {"extra": 1.0},
        },
        0.8 / 1.2 - 0.05,
    ),
    (
        "completeness-judged",
        completeness,
        {"input": "Greet. Explain.", "output": "Hi."},
        {"addressed: Greet.": 1.0, "addressed: Explain.": 0.0},
        0.5,
    ),
    (
        "context-precision",
        context_precision,
        {"input": "Colour?", "request_context": CONTEXT},
        {"useful: The sky is blue.": 0.0, "useful: Grass is green.": 1.0},
        0.5,
    ),
    (
        "context-recall",
        context_recall,
        {"ground_truth": "Sky. Sea.", "request_context": CONTEXT},
        {"attributed: Sky.": 1.0, "attributed: Sea.": 0.25},
        0.625,
    ),
    (
        "context-relevance",
        lambda model: context_relevance(model, needed=["the sea", "the sun"]),
        {"input": "Colour?", "output": "Blue.", "request_context": CONTEXT},
        {
            "relevance: The sky is blue.": {"high": 1.0},
            "relevance: Grass is green.": {"none": 1.0},
            "used: The sky is blue.": 0.0,
            "used: Grass is green.": 0.0,
            "missing: the sea": 1.0,
            "missing: the sun": 0.0,
        },
        0.5 - 0.1 - 0.15,
    ),
    ("toxicity", toxicity, {"output": "Go. Stay."}, {"toxic": 0.25}, 0.25),
    (
        "bias",
        bias,
        {"output": "They lie. He sat."},
        {"biased: They lie.": 1.0, "biased: He sat.": 0.0},
        0.5,
    ),
    (
        "tool-call-accuracy-judged",
        tool_call_accuracy,
        {"input": "Pay Bo.", "output": CALLED},
        {'appropriate: pay({"to": "Bo"})': 0.8},
        0.8,
    ),
    (
        "tool-call-accuracy-judged",
        tool_call_accuracy,
        {"input": "Hello", "output": "Hi"},
        {"no_tool_needed": 0.9},
        0.9,
    ),
    (
        "trajectory-accuracy-judged",
        trajectory_accuracy,
        {
            "input": "Book it",
            "output": {"steps": [{"name": "search"}, {"name": "search again"}]},
            "expected_trajectory": ["search", "book"],
        },
        {
            "necessary: search": 1.0,
            "necessary: search again": 0.0,
            "ordered": {"2": 1.0},
            "absent: search": 0.0,
            "absent: book": 1.0,
        },
        0.6 * 0.5 + 0.3 - 0.1 * 0.5,
    ),
    (
        "prompt-alignment",
        lambda model: prompt_alignment(model, mode="user"),
        {"input": "Be brief. Use French.", "output": "Bonjour."},
        {
            "user_intent": {"2": 1.0},
            "user_requirements": 0.5,
            "user_completeness": {"1": 1.0},
            "user_form": {"0": 1.0},
        },
        0.65,
    ),
    (
        "rubric",
        lambda model: rubric(
            model, criteria=["polite", "short", {"description": "funny", "required": False}]
        ),
        {"input": "Hi", "output": "Hello"},
        {"met: polite": 0.9, "met: short": 0.8, "met: funny": 0.0},
        0.72,
    ),
    (
        "multi-turn-judge",
        lambda model: multi_turn_judge(model, criterion="stays polite"),
        {"input": [{"role": "user", "content": "Hi"}], "output": "Hello"},
        {"met: stays polite": 0.7},
        0.7,
    ),
    (
        "noise-sensitivity",
        lambda model: noise_sensitivity(model, baseline_response="4", noisy_query="2+2? Cats!"),
        {"input": "2+2?", "output": "It is 4. Cats purr."},
        {
            "robust": {"2": 1.0},
            "impact_accuracy": {"none": 1.0},
            "impact_relevance": {"none": 1.0},
            "impact_completeness": {"none": 1.0},
            "impact_consistency": {"minimal": 1.0},
            "distracted: It is 4.": 0.0,
            "distracted: Cats purr.": 1.0,
        },
        0.9,
    ),
]


@pytest.mark.parametrize(
    ("name", "make", "run", "told", "expected"),
    [pytest.param(*case, id=f"{case[0]}-{number}") for number, case in enumerate(CASES)],
)
def test_the_score_is_the_formula_on_the_answers(
    name: str,
    make: Callable[[Any], MeasureScorer],
    run: dict[str, Any],
    told: dict[str, Told],
    expected: float,
) -> None:
    """One question per item, each answer kept, and the documented formula on probabilities."""
    scorer = make(judge(told))

    result = scorer.run_sync(**run)

    evidence = evidence_of(result)
    assert scorer.id == name
    assert result.score == pytest.approx(expected)
    assert (evidence.used, evidence.of) == (len(evidence.items), len(evidence.items))
    assert set(evidence.questions) >= {item.question for item in evidence.items}
    assert result.reason is not None
    assert evidence.formula in result.reason
    assert MeasureEvidence.model_validate_json(evidence.model_dump_json()) == evidence


@pytest.mark.parametrize(
    ("make", "direction"),
    [
        pytest.param(hallucination, "lower", id="hallucination"),
        pytest.param(toxicity, "lower", id="toxicity"),
        pytest.param(bias, "lower", id="bias"),
        pytest.param(faithfulness, "higher", id="faithfulness"),
        pytest.param(answer_relevancy, "higher", id="answer-relevancy"),
    ],
)
def test_the_direction_says_which_end_is_good(
    make: Callable[..., MeasureScorer], direction: str
) -> None:
    """Faults counted are better the fewer there are."""
    assert make(judge({})).direction == direction


@pytest.mark.parametrize(
    ("make", "run", "score"),
    [
        pytest.param(faithfulness, {"output": "A."}, None, id="faithfulness-no-context"),
        pytest.param(
            faithfulness, {"output": "", "request_context": CONTEXT}, None, id="faithfulness-silent"
        ),
        pytest.param(hallucination, {"output": "A."}, None, id="hallucination"),
        pytest.param(summarization, {"input": "", "output": "A."}, None, id="summarization"),
        pytest.param(summarization, {"input": "A.", "output": None}, None, id="6333-summarization"),
        pytest.param(answer_relevancy, {"input": "A", "output": ""}, None, id="answer-relevancy"),
        pytest.param(answer_similarity, {"output": "A."}, None, id="answer-similarity"),
        pytest.param(completeness, {"input": "", "output": ""}, 1.0, id="completeness"),
        pytest.param(context_precision, {"input": "A"}, 0.0, id="context-precision"),
        pytest.param(context_recall, {"request_context": CONTEXT}, 0.0, id="19733-context-recall"),
        pytest.param(context_relevance, {"input": "A"}, 1.0, id="context-relevance"),
        pytest.param(toxicity, {"output": ""}, 0.0, id="toxicity"),
        pytest.param(bias, {"output": ""}, 0.0, id="bias"),
        pytest.param(rubric, {"output": "A"}, 1.0, id="rubric"),
        pytest.param(prompt_alignment, {"output": "A"}, None, id="prompt-alignment"),
        pytest.param(trajectory_accuracy, {"output": "A"}, None, id="trajectory"),
        pytest.param(
            trajectory_accuracy,
            {"output": "A", "expected_trajectory": ["a"]},
            0.0,
            id="trajectory-expected",
        ),
    ],
)
def test_nothing_to_judge_has_the_documented_value_or_none(
    make: Callable[..., MeasureScorer], run: dict[str, Any], score: float | None
) -> None:
    """And the model is not asked."""
    model = judge({})

    result = make(model).run_sync(**run)

    assert result.score == score
    assert (result.not_scorable is None) == (score is not None)
    assert result.not_scorable is None or not result.not_scorable.no_verdict
    assert evidence_of(result).note
    assert model.requests == []


def test_items_without_a_verdict_are_left_out_and_counted() -> None:
    """They are neither supported nor not."""
    told: dict[str, Told] = {"supported: Ada came.": 0.8, "supported: Bo left.": None}

    result = faithfulness(judge(told)).run_sync(
        output="Ada came. Bo left.", request_context=CONTEXT
    )

    assert (result.score, evidence_of(result).used, evidence_of(result).of) == (0.8, 1, 2)
    assert "1 of 2 items used" in str(result.reason)


def test_no_verdict_at_all_is_not_scorable() -> None:
    """Silence is no score of 0."""
    result = faithfulness(judge({})).run_sync(output="Ada came. Bo left.", request_context=CONTEXT)

    assert result.score is None
    assert result.not_scorable is not None
    assert "(0 of 2 used)" in str(result.not_scorable.reason)
    assert result.not_scorable.no_verdict  # there were claims to judge: a gate fails


def test_a_question_of_the_formula_without_any_verdict_is_not_scorable() -> None:
    """Half a formula is none: alignment alone says nothing of coverage."""
    result = summarization(judge({"supported": 1.0})).run_sync(input="One.", output="One.")

    assert result.score is None
    assert "['covered']" in str(result.not_scorable)


def test_a_required_criterion_without_a_verdict_does_not_pass() -> None:
    """Left out like a claim, it would let the rubric pass."""
    told: dict[str, Told] = {"met: polite": 1.0, "met: short": None}

    result = rubric(judge(told), criteria=["polite", "short"]).run_sync(output="A")

    assert result.score is None
    assert "'short'" in str(result.not_scorable)


@pytest.mark.parametrize(
    ("criteria", "score"),
    [
        pytest.param([{"description": "a", "required": False}, "b"], 1.0, id="one required"),
        pytest.param(
            [{"description": text, "required": False} for text in "ab"], 0.0, id="none required"
        ),
        pytest.param("a\nb", 0.0, id="lines of a text"),
    ],
)
def test_a_rubric_gates_on_what_is_required(criteria: Any, score: float) -> None:
    """Where nothing is required, everything is."""
    model = judge({"met: a": 0.1, "met: b": 0.9})

    result = rubric(model, criteria=criteria, counting="verdicts").run_sync(output="A")

    assert result.score == score


def test_a_rubric_may_come_with_the_run() -> None:
    """The reference takes it from the request context."""
    result = rubric(judge({"met": 0.9})).run_sync(output="A", request_context={"rubric": ["a"]})

    assert result.score == 0.9


def test_verdicts_count_as_in_the_reference() -> None:
    """.6 is a yes and .4 a no; the expected value is kept beside it."""
    told: dict[str, Told] = {"supported: Ada came.": 0.6, "supported: Bo left.": 0.4}

    result = faithfulness(judge(told), counting="verdicts").run_sync(
        output="Ada came. Bo left.", request_context=CONTEXT
    )

    assert (result.score, evidence_of(result).expected) == (0.5, 0.5)
    told["supported: Bo left."] = 0.3
    result = faithfulness(judge(told), counting="verdicts").run_sync(
        output="Ada came. Bo left.", request_context=CONTEXT
    )
    assert (result.score, evidence_of(result).by_verdicts) == (0.5, 0.5)
    assert evidence_of(result).expected == pytest.approx(0.45)


def test_both_prompts_are_asked_about_apart() -> None:
    """Where we differ: the reference gives the system's prompt the user's score."""
    system = [{"role": "system", "content": "Rhyme."}, {"role": "user", "content": "Hi."}]
    best, worst = {"2": 1.0}, {"0": 1.0}
    dimensions = ("intent", "completeness", "form")
    told: dict[str, Told] = {f"user_{name}": best for name in dimensions}
    told |= {f"system_{name}": worst for name in dimensions}
    told |= {"user_requirements": 1.0, "system_requirements": 0.0}

    result = prompt_alignment(judge(told)).run_sync(input=system, output="Hello.")

    assert result.score == pytest.approx(0.7)


def test_tools_results_are_context() -> None:
    """17305: what an agent read with its tools is what it must be faithful to."""
    output = [
        *CALLED,
        {"role": "tool", "tool_call_id": "1", "content": "paid 5 euros"},
        {"role": "assistant", "content": "I paid 5 euros."},
    ]
    model = judge({"supported": 0.9})

    result = faithfulness(model).run_sync(input="Pay Bo.", output=output)

    assert result.score == 0.9
    assert "paid 5 euros" in json.dumps(model.requests[0].state)
