"""What every measure takes besides its own inputs, checked when it is built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypedDict

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.measures.items import Counting
from classify.classifier import Classifier
from classify.decision import DecisionModel
from classify.json_values import JSON
from classify.language_model import LanguageModel
from classify.questions import Question
from classify.validation import unknown_name

Judging: TypeAlias = Classifier | LanguageModel | DecisionModel | str | None
"""A classifier without questions of its own, or a model for one: an object, "provider/model",
"local"; None means what it means for a Classifier."""


class Settings(TypedDict, total=False):
    """What every measure takes besides its own inputs."""

    id: str
    """The scorer's id; the measure's name where absent."""
    questions: Mapping[str, Question]
    """Other wordings, or another language: question id -> a question with the same options."""
    counting: Counting
    """"expected" (default): probabilities enter the formula. "verdicts": the most probable option
    of each item counts as certain, as in the reference."""
    max_characters: int | None
    """Shorten long texts to the sentences closest to the item; None (default) leaves them."""
    concurrency: int
    """Items asked about at the same time, and requests in flight; 8, or `run_evals`' own."""
    max_retries: int
    timeout: float | None
    provider_options: Mapping[str, JSON] | None


def check_settings(settings: Settings) -> None:
    """Raise ScorerDefinitionError for a setting that is unknown or unusable."""
    for name in settings:
        if name not in Settings.__annotations__:
            raise ScorerDefinitionError(unknown_name("setting", name, Settings.__annotations__))
    counting = settings.get("counting", "expected")
    if counting not in ("expected", "verdicts"):
        raise ScorerDefinitionError(f"counting must be 'expected' or 'verdicts', got {counting!r}")
    limit = settings.get("max_characters")
    if limit is not None:
        _check_positive("max_characters", limit)
    _check_positive("concurrency", settings.get("concurrency", 8))


def classifier_of(name: str, judge: Judging) -> Classifier:
    """Return what answers; raises ScorerDefinitionError for a classifier with own questions."""
    if not isinstance(judge, Classifier):
        return Classifier(name, judge)
    if judge.questions:
        raise ScorerDefinitionError(
            f"the classifier {judge.id!r} has questions of its own, and {name} asks its own: build "
            f"it without questions; give other wordings with questions={{...}}"
        )
    return judge


def reworded(
    measure: str, own: Mapping[str, Question], given: Mapping[str, Question]
) -> dict[str, Question]:
    """Return a measure's questions with those given in their places.

    Raises ScorerDefinitionError where one is unknown or could not be counted in the formula.
    """
    for name, question in given.items():
        if name not in own:
            raise ScorerDefinitionError(f"{measure}: {unknown_name('question', name, own)}")
        kind, options = own[name].type, own[name].options
        if (question.type, set(question.options)) != (kind, set(options)):
            raise ScorerDefinitionError(
                f"{measure}: question {name!r} must be a {kind} question with the options "
                f"{list(options)!r}, got {question!r}"
            )
    return {**own, **given}


def _check_positive(name: str, given: object) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ScorerDefinitionError(f"{name} must be a whole number of at least 1, got {given!r}")
