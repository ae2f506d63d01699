"""The machinery that all measures share: settings, asking, failing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from classify import Boolean, Classifier, ProviderError
from classify.adapters.scorers import ScorerDefinitionError, ScorerRunError, run_evals_sync
from classify.adapters.scorers.measures import (
    answer_relevancy,
    answer_similarity,
    context_precision,
    faithfulness,
    multi_turn_judge,
    prompt_alignment,
    rubric,
    toxicity,
)
from classify.adapters.scorers.measures.measure import AnyRun
from classify.decision import DecisionRequest, DecisionResponse
from classify.errors import InvalidInput
from classify.json_values import is_object
from classify.testing import ScriptedModel

CONTEXT = {"context": "The sky is blue."}


def shown(request: DecisionRequest, field: str) -> str:
    """Return one field of what the model saw."""
    assert is_object(request.state)
    return str(request.state[field])


def sure(request: DecisionRequest) -> dict[str, dict[str, object]]:
    """Answer every question with .9."""
    return {name: {"type": "boolean", "probability": 0.9} for name in request.questions}


def at_semicolons(text: str) -> list[str]:
    """Split at once."""
    return text.split(";")


async def later_at_semicolons(text: str) -> list[str]:
    """Split after asking someone."""
    await asyncio.sleep(0)
    return text.split(";")


def from_input(run: AnyRun) -> object:
    """Take a text of the run."""
    return run.input


async def documents(run: AnyRun) -> object:
    """Retrieve documents as others store them."""
    await asyncio.sleep(0)
    return [{"text": "d"}, Document(page_content="e"), {"id": 7}]


class Document(BaseModel):
    """A document of some retriever's library."""

    page_content: str


def nothing(run: AnyRun) -> object:
    """Find none."""
    return None


@pytest.mark.parametrize(
    "splitter",
    [
        pytest.param(at_semicolons, id="sync"),
        pytest.param(later_at_semicolons, id="async"),
    ],
)
def test_claims_come_from_any_splitter(splitter: Callable[[str], Any]) -> None:
    """A model that extracts claims takes the place of the sentences."""
    model = ScriptedModel(sure)

    faithfulness(model, claims=splitter).run_sync(output="a; b. c;", request_context=CONTEXT)

    assert [shown(request, "claim") for request in model.requests] == ["a", " b. c"]


def test_a_splitter_that_returns_a_text_is_an_error() -> None:
    """Its letters would be claims."""
    scorer = faithfulness(ScriptedModel(sure), claims=lambda text: text)

    with pytest.raises(ScorerRunError, match="a splitter must return a list of strings"):
        scorer.run_sync(output="abc", request_context=CONTEXT)


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        pytest.param(["a", "b"], ["a", "b"], id="list"),
        pytest.param(from_input, ["q"], id="text of the run"),
        pytest.param(documents, ["d", "e", '{"id": 7}'], id="async documents"),
        pytest.param(nothing, [], id="none"),
    ],
)
def test_context_comes_from_any_source(source: Any, seen: list[str]) -> None:
    """Texts, or a function that takes them from the run."""
    model = ScriptedModel(sure)

    context_precision(model, context=source).run_sync(input="q")

    assert [shown(request, "context") for request in model.requests] == seen


def test_a_context_that_is_no_text_is_an_error() -> None:
    """7 is no retrieved document."""
    with pytest.raises(ScorerRunError, match="context must be a list of texts, one text or None"):
        context_precision(ScriptedModel(sure), context=lambda run: 7).run_sync(input="q")


def test_a_failed_request_fails_the_run_once() -> None:
    """The provider's error is the cause; what was not asked yet is not asked any more."""

    def fail(request: DecisionRequest) -> DecisionResponse:
        raise ProviderError("no key", status=401)

    model = ScriptedModel(fail)
    scorer = toxicity(model, concurrency=1)

    with pytest.raises(ScorerRunError, match="failed at analyze: no key") as caught:
        scorer.run_sync(output="One. Two. Three.")

    assert isinstance(caught.value.cause, ProviderError)
    assert len(model.requests) == 1


def test_items_are_asked_together_within_the_bound() -> None:
    """Two at a time, and the answers stay in the items' order."""
    inside, most = 0, 0

    class Slow:
        provider, model_id, supported_question_types = "slow", "slow", None

        async def decide(self, request: DecisionRequest) -> DecisionResponse:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            for _ in range(3):
                await asyncio.sleep(0)
            inside -= 1
            return DecisionResponse(sure(request))

    result = toxicity(Slow(), concurrency=2).run_sync(output="One. Two. Three. Four. Five.")

    assert most == 2
    evidence = result.analyze_step_result
    assert evidence is not None
    assert [item.text for item in evidence.items] == ["One.", "Two.", "Three.", "Four.", "Five."]


def test_long_texts_are_shortened_and_marked() -> None:
    """The sentences about the claim stay, and the evidence says that not all was seen."""
    article = "Rain fell. " * 50 + "The mayor of Ulm resigned. " + "Snow came. " * 50
    model = ScriptedModel(sure)

    result = faithfulness(model, max_characters=60).run_sync(
        output="Ulm's mayor resigned.", request_context={"context": article}
    )

    context = shown(model.requests[0], "context")
    assert "The mayor of Ulm resigned." in context
    assert len(context) <= 60
    assert result.analyze_step_result is not None
    assert [item.shortened for item in result.analyze_step_result.items] == [True]


def test_questions_can_be_worded_anew() -> None:
    """Another language, another cue: the same options."""
    german = Boolean(instructions="Stützt der Kontext die Aussage?")
    model = ScriptedModel(sure)

    faithfulness(model, questions={"supported": german}).run_sync(
        output="A.", request_context=CONTEXT
    )

    assert model.requests[0].questions == {"supported": german}


def test_a_classifier_without_questions_is_asked() -> None:
    """Its own options and calibrators apply."""
    classifier = Classifier("mine", ScriptedModel(sure))

    result = toxicity(classifier).run_sync(output="A.")

    assert result.analyze_step_result is not None
    assert result.analyze_step_result.classifier_id == "mine"


UNUSABLE: list[tuple[str, Callable[[], object], str]] = [
    (
        "own questions",
        lambda: toxicity(Classifier("c", ScriptedModel(sure), {"q": Boolean()})),
        "has questions of its own",
    ),
    (
        "unknown question",
        lambda: toxicity(ScriptedModel(sure), questions={"toxik": Boolean()}),
        "did you mean 'toxic'",
    ),
    (
        "other options",
        lambda: answer_relevancy(ScriptedModel(sure), questions={"relevant": Boolean()}),
        "must be a choice question",
    ),
    (
        "unknown setting",
        lambda: toxicity(ScriptedModel(sure), treshold=1),  # type: ignore[call-arg]
        "unknown setting 'treshold'",
    ),
    (
        "concurrency",
        lambda: toxicity(ScriptedModel(sure), concurrency=0),
        "concurrency must be a whole number of at least 1, got 0",
    ),
    (
        "characters",
        lambda: toxicity(ScriptedModel(sure), max_characters=-1),
        "max_characters must be a whole number",
    ),
    (
        "counting",
        lambda: toxicity(ScriptedModel(sure), counting="soft"),  # type: ignore[arg-type]
        "counting must be 'expected' or 'verdicts', got 'soft'",
    ),
    (
        "uncertainty",
        lambda: answer_relevancy(ScriptedModel(sure), uncertainty_weight=2),
        "uncertainty_weight must be from 0 to 1, got 2",
    ),
    (
        "penalty",
        lambda: answer_similarity(ScriptedModel(sure), contradiction_penalty=float("nan")),
        "contradiction_penalty must be a number of at least 0, got nan",
    ),
    (
        "mode",
        lambda: prompt_alignment(ScriptedModel(sure), mode="all"),  # type: ignore[arg-type]
        "mode must be 'user', 'system' or 'both', got 'all'",
    ),
    (
        "criterion",
        lambda: multi_turn_judge(ScriptedModel(sure), criterion=" "),
        "criterion must be a non-empty text",
    ),
]


@pytest.mark.parametrize(
    ("make", "message"), [pytest.param(make, text, id=name) for name, make, text in UNUSABLE]
)
def test_unusable_settings_are_refused_when_built(make: Callable[[], object], message: str) -> None:
    """Before anything is asked, with the value and the way out."""
    with pytest.raises(ScorerDefinitionError, match=message):
        make()


def test_a_criterion_of_no_text_is_an_error() -> None:
    """It would be graded as something else."""
    with pytest.raises(ScorerRunError, match="a criterion must be a text") as caught:
        rubric(ScriptedModel(sure), criteria=[{"required": True}]).run_sync(output="A")

    assert isinstance(caught.value.cause, InvalidInput)


def rained(text: str) -> str:
    """Answer whatever was asked."""
    return "It rained."


def test_what_is_stored_of_a_run_has_no_context(tmp_path: Path) -> None:
    """Step results go into results files: the claims belong there, a long article does not."""
    data = [{"input": "q", "request_context": {"context": "A long article."}}]
    path = tmp_path / "results.jsonl"

    report = run_evals_sync(rained, data, [faithfulness(ScriptedModel(sure))], output=path)

    assert report.scores["faithfulness"].mean == 0.9
    stored = path.read_text(encoding="utf-8")
    assert "It rained." in stored
    assert stored.count("A long article.") <= 1  # the item itself
