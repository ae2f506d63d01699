"""A result: what one row's evaluation came to, and the line of JSON that it is kept as."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from pydantic_core import from_json, to_json

from classify.answers import AnyAnswer
from classify.decision import ResponseInfo, Rounding
from classify.display.notebook import Shown
from classify.display.printed import Printed
from classify.errors import ClassifyError, InvalidInput, ModelError, ProviderError
from classify.evaluation import Evaluation, TotalUsage
from classify.json_values import JSON, is_object, writable
from classify.row_labels import Label
from classify.rows import BadRow, Row, canonical_json

if TYPE_CHECKING:
    from classify.display.cards import Card

BAD_ROW = "BadRow"
"""The error type of a row that could not be read."""

_ANSWERED = (
    "answers",
    "usage",
    "response",
    "warnings",
    "rounding",
    "provider_metadata",
    "attempts",
    "seconds",
)
"""What a result holds of its evaluation."""

_MARKS = frozenset({"index", "key", "answers"})
"""Fields that every line of results has, and rows do not have together."""


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class RowError(_Kept):
    """Why a row has no answers; never its text."""

    type: str
    """The class of the error, or "BadRow"."""
    message: str
    """What went wrong, in a sentence."""
    status: int | None = None
    """The HTTP status, where there was one."""
    code: str | None = None
    """The provider's own name for the problem."""
    retryable: bool | None = None
    """Whether the same request may succeed later; None where nothing was sent."""


class Result(Printed, Shown, _Kept):
    """What is kept of one row. Unknown fields of a line are ignored."""

    id: str
    """The row's own id, or the beginning of a hash of its state."""
    index: int
    """The row's position in its source, from 0."""
    key: str | None
    """SHA-256 of everything that can change the answers; None for a row that was not read."""
    state: JsonValue = None
    """What was judged; the field is left out where the run was told to leave it out."""
    answers: dict[str, AnyAnswer] = {}
    """Question id -> answer or no-verdict; empty where there is an error."""
    error: RowError | None = None
    """Why there are no answers."""
    labels: dict[str, Label] = {}
    """Question id -> what a person said."""
    label_problems: dict[str, str] = {}
    """Question id -> why its label could not be read."""
    usage: TotalUsage | None = None
    """Tokens of all questions together."""
    response: ResponseInfo | None = None
    """Which response this was; of several, the last question's."""
    warnings: tuple[str, ...] = ()
    """What was odd about how the answers came about."""
    rounding: Rounding | None = None
    """To how many decimals the model rounds; the field is left out where it does not say so."""
    provider_metadata: dict[str, JsonValue] | None = None
    """What a decision model adds of its own; the field is left out where it adds nothing."""
    attempts: int = 0
    """Requests made, failed ones included."""
    seconds: float | None = None
    """From the first request to the answers; None where there are none."""

    @property
    def has_state(self) -> bool:
        """Whether the state was kept."""
        return "state" in self.model_fields_set

    @property
    def asking(self) -> tuple[float, ResponseInfo | None] | None:
        """What tells the one time that the model was asked for this from all others.

        Lines of one key that share it hold one answer, such as a row's line before and after its
        labels were changed. None where nothing tells.
        """
        return (self.seconds, self.response) if self.seconds else None

    def evaluation(self, classifier: str) -> Evaluation:
        """Return the evaluation that the result was made of."""
        return Evaluation(
            classifier_id=classifier,
            answers=self.answers,
            usage=self.usage or TotalUsage(),
            warnings=self.warnings,
            rounding=self.rounding,
            provider_metadata=self.provider_metadata,
            response=self.response or ResponseInfo(),
            attempts=self.attempts,
            seconds=self.seconds or 0.0,
        )

    def _card(self) -> Card:
        from classify.display.answer_cards import result_card

        return result_card(self)


_OF_CLASSIFIER = 16
"""How many hexadecimal digits of a key are those of the fingerprint."""


def state_key(fingerprint: str, state: JSON) -> str:
    """Return the key of a state's answers by the classifier with that fingerprint.

    It begins as the fingerprint does, so that it tells by itself whose answers they are.
    """
    both = hashlib.sha256(f"{fingerprint}\n{canonical_json(state)}".encode()).hexdigest()
    return fingerprint[:_OF_CLASSIFIER] + both[_OF_CLASSIFIER:]


def is_key_of(key: str, fingerprint: str) -> bool:
    """Whether a key is of the answers by the classifier with that fingerprint."""
    return key.startswith(fingerprint[:_OF_CLASSIFIER])


def row_result(outcome: Evaluation | ClassifyError, base: Result) -> Result:
    """Return the result of a row that was sent to the model; `base` is what `unanswered` gave."""
    if isinstance(outcome, Evaluation):
        return base.model_copy(update={name: getattr(outcome, name) for name in _ANSWERED})
    attempts = outcome.attempts if isinstance(outcome, ModelError) else None
    return base.model_copy(update={"error": _row_error(outcome), "attempts": attempts or 0})


def results_of(
    outcomes: Iterable[Evaluation | ClassifyError],
    *,
    labels: Iterable[Mapping[str, Label | None]] | None = None,
    ids: Iterable[str] | None = None,
) -> list[Result]:
    """Return the outcomes of `evaluate_many` as results, for what measures and shows results.

    `labels` has for each outcome the labels by question id, None where nobody gave one; `ids` are
    the positions from 0 where none are given. States are not kept. Raises InvalidInput where
    there are not as many labels or ids as outcomes.
    """
    found = list(outcomes)
    nothing: Mapping[str, Label | None] = {}
    said = [nothing] * len(found) if labels is None else list(labels)
    names = [str(index) for index in range(len(found))] if ids is None else list(ids)
    for name, given in (("labels", said), ("ids", names)):
        if len(given) != len(found):
            raise InvalidInput(f"{name} must be as many as the {len(found)} outcomes: {len(given)}")
    return [
        row_result(outcome, Result(id=name, index=index, key=None, labels=_given(own)))
        for index, (outcome, own, name) in enumerate(zip(found, said, names, strict=True))
    ]


def _given(labels: Mapping[str, Label | None]) -> dict[str, Label]:
    return {question: label for question, label in labels.items() if label is not None}


def unanswered(row: Row, *, key: str, with_state: bool) -> Result:
    """Return what a result holds of its row, whatever the answers are."""
    result = Result(
        id=row.id,
        index=row.index,
        key=key,
        labels=dict(row.labels),
        label_problems=dict(row.label_problems),
    )
    return result.model_copy(update={"state": row.state}) if with_state else result


def bad_row_result(row: BadRow) -> Result:
    """Return the result of a row that could not be read."""
    error = RowError(type=BAD_ROW, message=f"{row.place}: {row.message}")
    return Result(id=row.place, index=row.index, key=None, error=error)


def reused_result(found: Result, base: Result) -> Result:
    """Return a kept result with what the row says now; the same object where nothing changed."""
    names = ("id", "index", "labels", "label_problems")
    same = all(getattr(found, name) == getattr(base, name) for name in names)
    if same and found.has_state == base.has_state:
        return found
    return base.model_copy(update={name: getattr(found, name) for name in _ANSWERED})


def _row_error(error: ClassifyError) -> RowError:
    found = RowError(type=type(error).__name__, message=writable(str(error)))
    if isinstance(error, ProviderError):
        said = {
            "status": error.status,
            "code": error.code and writable(error.code),
            "retryable": error.retryable,
        }
        return found.model_copy(update=said)
    return found


def result_line(result: Result) -> bytes:
    """Return the line of a results file; None is left out inside answers, usage and response."""
    fields = {name: getattr(result, name) for name in Result.model_fields}
    if not result.has_state:
        del fields["state"]
    for name in ("rounding", "provider_metadata"):
        if fields[name] is None:
            del fields[name]
    return to_json(fields, exclude_none=True, inf_nan_mode="null") + b"\n"


def parse_result(line: bytes) -> Result:
    """Read a line back; raises InvalidInput."""
    try:
        return Result.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"])) or "it"
        raise InvalidInput(f"no line of results: {place}: {problem['msg']}") from None


def read_results(path: str | Path) -> Iterator[Result]:
    """Yield the results of a file; raises InvalidInput with the line's number.

    The last line is passed over where a crash has cut it off.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield parse_result(line)
            except InvalidInput as error:
                if number == 1:
                    check_results_line(line, path)
                if not line.endswith(b"\n"):
                    return
                raise InvalidInput(f"{path}:{number}: {error}") from None


def check_results_line(line: bytes, path: str | Path) -> None:
    """Raise InvalidInput where a file's first line shows that it holds something else than results.

    A line of results that is damaged passes.
    """
    try:
        fields = from_json(line)
    except ValueError:
        if line.startswith(b"{") or not line.endswith(b"\n"):
            return
        fields = None
    if is_object(fields) and len(fields.keys() & _MARKS) > 1:
        return
    held = "rows, not results" if is_object(fields) else "no results"
    raise InvalidInput(
        f"{str(path)!r} holds {held}: `classify run SPEC ROWS -o RESULTS.jsonl` makes results of "
        "rows"
    )
