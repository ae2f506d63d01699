"""Spec files: a classifier written down in YAML or JSON, and which fields of the rows it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.options import Options
from classify.question_sets import parse_questions
from classify.questions import Question
from classify.rows import FieldMap, StateFields
from classify.spec_document import Document, DocumentPath, read_document
from classify.validation import Strict, unknown_name

if TYPE_CHECKING:
    from classify.calibrating import AnswerCalibrator, AnswerPolicy
    from classify.classifier import Classifier
    from classify.decision import DecisionModel
    from classify.language_model import LanguageModel
    from classify.options import OptionValues


class Spec(Strict):
    """A classifier and the fields it reads, as a spec file holds them."""

    id: str = Field(min_length=1)
    """The classifier's name, kept with every result."""
    model: str | None = Field(default=None, min_length=1)
    """"provider/model" or "local"; where absent, the embedded model if no provider's key is set."""
    questions: dict[str, Question] = Field(min_length=1)
    """Question id -> question."""
    options: Options = Options()
    """How the model is read."""
    state: str | list[str] | dict[str, str] | None = None
    """The field of a row that is judged; several fields, or new name -> field, for an object of
    them; where absent, the first field with a usual name (text, message, …)."""
    labels: dict[str, str] | None = None
    """Question id -> the field with the label that a person gave; where absent, the fields that
    have a question's id."""
    id_field: str | None = Field(default=None, min_length=1)
    """The field that names a row; where absent, "id", else a hash of the state."""

    @field_validator("questions", mode="before")
    @classmethod
    def _questions_are_questions(cls, given: object) -> object:
        return parse_questions(cast("dict[str, Question]", given))

    @field_validator("state", mode="before")
    @classmethod
    def _state_names_fields(cls, given: object) -> object:
        names = _names(given)
        if given is not None and not (names and all(isinstance(n, str) and n for n in names)):
            raise ValueError(
                "must be a field's name, a list of names, or an object of new name: field, "
                f"got {given!r}"
            )
        return given

    @model_validator(mode="after")
    def _labels_belong_to_questions(self) -> Spec:
        for name in self.labels or ():
            if name not in self.questions:
                raise ValueError(f"labels: {unknown_name('question', name, self.questions)}")
        return self

    @property
    def fields(self) -> FieldMap:
        """Which fields of a row mean what."""
        state: StateFields | None
        if isinstance(self.state, list):
            state = self.state[0] if len(self.state) == 1 else {name: name for name in self.state}
        else:
            state = self.state
        return FieldMap(state, self.labels, self.id_field)

    def classifier(
        self,
        model: str | LanguageModel | DecisionModel | None = None,
        *,
        calibrators: Mapping[str, AnswerCalibrator] | None = None,
        policies: Mapping[str, AnswerPolicy] | None = None,
    ) -> Classifier:
        """Build the classifier, with another model than the spec's where one is given."""
        from classify.classifier import Classifier

        options = cast("OptionValues", self.options.model_dump(exclude_unset=True))
        chosen = self.model if model is None else model
        return Classifier(
            self.id,
            chosen,
            self.questions,
            calibrators=calibrators,
            policies=policies,
            **options,
        )


S = TypeVar("S", bound=Spec)


def _names(state: object) -> list[object]:
    if isinstance(state, list):
        return cast("list[object]", state)
    if isinstance(state, Mapping):
        return [*cast("Mapping[object, object]", state).values()]
    return [state]


def load_spec(path: str | Path) -> Spec:
    """Read a spec file; raises InvalidInput, a line per problem: file, line, field, way out."""
    return parse_spec(read_document(path), Spec)


def parse_spec(document: Document, kind: type[S]) -> S:
    """Return the spec that a document holds; `kind` may have more fields. Raises as `load_spec`."""
    value = document.value
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{document.name}:1: must hold the fields of a spec ({', '.join(kind.model_fields)}), "
            f"got {type(value).__name__}"
        )
    if "scorers" in value and "scorers" not in kind.model_fields:
        raise InvalidInput(
            f"{document.name}: has scorers, so it is a spec of `classify score`: give it to that "
            "command, or leave them out"
        )
    questions = value.get("questions")
    problems: list[tuple[DocumentPath, str]] = []
    if isinstance(questions, dict):
        questions = {name: _with_truths(question) for name, question in questions.items()}
        value = {**value, "questions": questions}
        for name, question in questions.items():
            problems += _question_problems(name, question)
    if not problems:
        try:
            values: dict[str, Any] = value  # what they are is for pydantic to say
            return kind(**values)
        except InvalidInput as error:
            problems += _problems(error, ())
    raise InvalidInput("\n".join(_line(document, *problem) for problem in problems))


def _with_truths(question: JSON) -> JSON:
    # YAML writers call the sides of a boolean yes and no, on and off.
    truths = {"yes": "true", "on": "true", "no": "false", "off": "false"}
    if not isinstance(question, dict) or question.get("type") != "boolean":
        return question
    named = dict(question)
    for part in ("criteria", "words"):
        sides = question.get(part)
        if isinstance(sides, dict):
            lowered = {side: side.lower() for side in sides}
            new = {side: truths.get(lower, lower) for side, lower in lowered.items()}
            if len(set(new.values())) == len(sides):
                named[part] = {new[side]: text for side, text in sides.items()}
    return named


def _question_problems(name: str, question: JSON) -> Iterator[tuple[DocumentPath, str]]:
    try:
        parse_questions({name: cast("Question", question)})
    except InvalidInput as error:
        yield from _problems(error, ("questions", name))


def _problems(error: BaseException, path: DocumentPath) -> Iterator[tuple[DocumentPath, str]]:
    """Yield path and message of each thing wrong, out of the validation behind an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ValidationError):
        cause = cause.__context__
    if cause is None:
        prefix = ".".join(map(str, path)) + ": "
        yield path, str(error).removeprefix(prefix)
        return
    for problem in cause.errors(include_url=False):
        place = (*path, *problem["loc"])
        inner = problem.get("ctx", {}).get("error")
        if isinstance(inner, InvalidInput):
            yield from _problems(inner, place)
        elif inner is not None:
            yield place, str(inner)
        elif problem["type"] == "missing":
            yield place, "is required and missing"
        else:
            yield (
                place,
                f"{problem['msg'][0].lower()}{problem['msg'][1:]}, got {problem['input']!r}",
            )


def _line(document: Document, path: DocumentPath, message: str) -> str:
    line = document.line(path, message)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    field = f"{place.removeprefix('.')}: " if path else ""
    return f"{document.name}:{line}: {field}{message}"
