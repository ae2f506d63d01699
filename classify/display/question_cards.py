"""Cards of questions, and of the classifier that asks them; never a key or an address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import JsonValue

from classify.calibrating import AnswerCalibrator
from classify.display.cards import Card, Part, Row, Table, facts
from classify.questions import Question

if TYPE_CHECKING:
    from classify.calibrating import AfterReading
    from classify.classifier import Classifier

_SECTIONS = 8
"""Questions shown with all their options; more are shown in a line each."""
_DIGEST = 12
"""Characters of a fingerprint: enough to see that two differ."""


def question_card(question: Question, name: str | None = None) -> Card:
    """Return the card of a question; alone it has no id."""
    kind = type(question).__name__
    title = kind if name is None else f"{name} ({kind.lower()})"
    asked = facts(("cue", question.cue), ("words of the ends", _ends(question)))
    return Card(title, _text(question.instructions), (_options(question), *asked))


def classifier_card(classifier: Classifier, after: AfterReading) -> Card:
    """Return the card of a classifier: its model, how it is read, and its questions."""
    # The model is named, not shown: it may hold a key, and an address may hold one too.
    model = f"{classifier.model.provider}: {classifier.model.model_id}"
    options = classifier.options.model_dump(exclude_defaults=True)
    settings = ", ".join(f"{name}={value!r}" for name, value in options.items())
    calibrators = {name: _calibrator(each) for name, each in after.calibrators.items()}
    policies = {name: each.guarantee for name, each in after.policies.items()}
    about = facts(
        ("model", model),
        ("options", settings or None),
        *((f"calibrator of {name}", told) for name, told in calibrators.items()),
        *((f"policy of {name}", told) for name, told in policies.items()),
        ("fingerprint", classifier.fingerprint),
    )
    return Card("Classifier", classifier.id, (*about, *_questions(classifier.questions)))


def _questions(questions: Mapping[str, Question]) -> tuple[Part, ...]:
    if len(questions) <= _SECTIONS:
        return tuple(question_card(question, name) for name, question in questions.items())
    rows = (
        Row((name, each.type, str(len(each.options)), _text(each.instructions)))
        for name, each in questions.items()
    )
    return (Table(("question", "kind", "options", "instructions"), tuple(rows), "questions"),)


def _options(question: Question) -> Table:
    heading = "level" if question.type == "score" else "option"
    columns = {heading: list(question.options)}
    described = [_text(question.described(option)) for option in question.options]
    if any(described):
        columns["description"] = described
    if question.words is not None and not _anchored(question):
        columns["words"] = [", ".join(question.spellings(option)) for option in question.options]
    rows = (Row(cells) for cells in zip(*columns.values(), strict=True))
    return Table(tuple(columns), tuple(rows), unit=f"{heading}s")


def _ends(question: Question) -> str | None:
    if not _anchored(question):
        return None
    first, last = question.options[0], question.options[-1]
    return ", ".join((*question.spellings(first), *question.spellings(last)))


def _anchored(question: Question) -> bool:
    # Then there are words for the two ends, and none for the levels between.
    return question.type == "score" and question.anchored


def _calibrator(calibrator: AnswerCalibrator) -> str:
    digest: object = getattr(calibrator, "digest", None)
    name = type(calibrator).__name__
    return f"{name} {digest[:_DIGEST]}" if isinstance(digest, str) else name


def _text(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
