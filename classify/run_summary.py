"""What a results file comes to: answers, causes of having none, and agreement with labels.

Every mean stands beside the number of rows it is over, and failures are counted, never averaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from classify.answers import (
    Answer,
    BooleanAnswer,
    NoVerdict,
    ScoreAnswer,
    most_probable,
)
from classify.display.notebook import Shown
from classify.json_values import JSON
from classify.questions import Question
from classify.results import Result
from classify.row_labels import Label
from classify.summary_figures import Mean, Proportion, auroc, correlation, mean, proportion

if TYPE_CHECKING:
    from classify.display.cards import Card


@dataclass(frozen=True, slots=True)
class QuestionSummary:
    """One question over all rows."""

    type: str
    """The kind of the question."""
    rows: int
    """Lines of the file."""
    answered: int
    """Rows with a verdict."""
    no_verdicts: dict[str, int]
    """Cause -> rows."""
    distribution: dict[str, int]
    """Option (or level, or true and false) -> rows in which it is the most probable."""
    methods: dict[str, int]
    """How answers were obtained -> rows; more than one means that they are not comparable."""
    mean_value: Mean | None
    """Of the score, or of P(true); None for choices."""
    mean_confidence: Mean | None
    """Of the probability of the most probable option."""
    mean_label_mass: Mean | None
    flipped: Proportion | None
    """Rows whose most probable option changed with the order that options were listed in, of
    those asked in several orders."""
    accuracy: Proportion | None
    """Answered rows whose most probable option is the label, of those that have a label."""
    labelled: int
    """Rows with a label, answered or not."""
    mean_absolute_error: Mean | None
    """Of the score from its label; None for the other kinds."""
    correlation: float | None
    """Of the scores with their labels."""
    auroc: float | None
    """Of P(true) against boolean labels."""


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """Tokens over all rows; None where no provider said, never 0 in its place."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    rows_unknown: int
    """Answered rows for which the provider did not report both: then the sums are too low."""


@dataclass(frozen=True, slots=True)
class RunSummary(Shown):
    """A whole results file."""

    rows: int
    """Lines of the file."""
    answered: int
    """Rows that the model answered, with or without a verdict."""
    errors: dict[str, int]
    """Type of error -> rows."""
    questions: dict[str, QuestionSummary]
    """Question id -> its summary."""
    label_problems: int
    """Labels that could not be read."""
    usage: UsageSummary
    attempts: int
    """Requests made, failed ones included."""
    models: dict[str, int]
    """The model that the provider says answered -> rows."""
    warnings: dict[str, int]
    """Warning -> rows."""
    first_errors: dict[str, str]
    """Type of error -> the message of the first."""

    @property
    def failed(self) -> int:
        """Rows without answers."""
        return sum(self.errors.values())

    def to_json(self) -> dict[str, JSON]:
        """Return the summary as plain values."""
        values: dict[str, JSON] = asdict(self)
        return {**values, "failed": self.failed}

    def _card(self) -> Card:
        from classify.display.summary_cards import summary_card

        return summary_card(self)


def summarize(results: Iterable[Result], questions: Mapping[str, Question]) -> RunSummary:
    """Count a file's results; they are read once and not kept."""
    total = RunTotal(questions)
    for result in results:
        total.add(result)
    return total.summary()


@dataclass(slots=True)
class RunTotal:
    """A summary in the making, for results that are still arriving."""

    questions: Mapping[str, Question]
    rows: int = 0
    label_problems: int = 0
    attempts: int = 0
    errors: Counter[str] = field(default_factory=Counter[str])
    first_errors: dict[str, str] = field(default_factory=dict[str, str])
    models: Counter[str] = field(default_factory=Counter[str])
    warnings: Counter[str] = field(default_factory=Counter[str])
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    unknown: int = 0
    asked: dict[str, _Asked] = field(default_factory=dict[str, "_Asked"])

    def __post_init__(self) -> None:
        self.asked = {name: _Asked(question) for name, question in self.questions.items()}

    def add(self, result: Result) -> None:
        """Count one more result."""
        self.rows += 1
        self.attempts += result.attempts
        self.label_problems += len(result.label_problems)
        self.warnings.update(set(result.warnings))
        if result.error is not None:
            self.errors[result.error.type] += 1
            self.first_errors.setdefault(result.error.type, result.error.message)
        else:
            self._add_response(result)
        for name, asked in self.asked.items():
            asked.add(result.answers.get(name), result.labels.get(name))

    def _add_response(self, result: Result) -> None:
        if result.response is not None and result.response.model_id:
            self.models[result.response.model_id] += 1
        counts = {} if result.usage is None else result.usage.model_dump(exclude_none=True)
        self.unknown += not {"input_tokens", "output_tokens"} <= counts.keys()
        for name, count in counts.items():
            self.tokens[name] = self.tokens.get(name, 0) + count

    def summary(self) -> RunSummary:
        """Return what the results so far come to."""
        return RunSummary(
            rows=self.rows,
            answered=self.rows - self.errors.total(),
            errors=dict(self.errors.most_common()),
            questions={name: asked.summary(self.rows) for name, asked in self.asked.items()},
            label_problems=self.label_problems,
            usage=UsageSummary(
                self.tokens.get("input_tokens"),
                self.tokens.get("output_tokens"),
                self.tokens.get("cached_tokens"),
                self.unknown,
            ),
            attempts=self.attempts,
            models=dict(self.models.most_common()),
            warnings=dict(self.warnings.most_common()),
            first_errors=self.first_errors,
        )


@dataclass(slots=True)
class _Asked:
    """The answers to one question so far: numbers only."""

    question: Question
    labelled: int = 0
    no_verdicts: Counter[str] = field(default_factory=Counter[str])
    best: Counter[str] = field(default_factory=Counter[str])
    methods: Counter[str] = field(default_factory=Counter[str])
    values: list[float] = field(default_factory=list[float])
    confidences: list[float] = field(default_factory=list[float])
    masses: list[float] = field(default_factory=list[float])
    orders: list[bool] = field(default_factory=list[bool])
    correct: list[bool] = field(default_factory=list[bool])
    pairs: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def add(self, answer: Answer | NoVerdict | None, label: Label | None) -> None:
        self.labelled += label is not None
        if isinstance(answer, NoVerdict):
            self.no_verdicts[answer.cause] += 1
        elif answer is not None:
            self._add_answer(answer)
            if label is not None:
                self._compare(answer, label)

    def _add_answer(self, answer: Answer) -> None:
        best = most_probable(answer)
        self.best[best] += 1
        self.methods[answer.method] += 1
        if answer.probabilities is not None:
            self.confidences.append(max(answer.probabilities.values()))
        if answer.label_mass is not None:
            self.masses.append(answer.label_mass)
        if answer.evidence is not None and answer.evidence.order_count > 1:
            self.orders.append(answer.evidence.flips > 0)
        if isinstance(answer, ScoreAnswer):
            self.values.append(answer.score)
        elif isinstance(answer, BooleanAnswer):
            self.values.append(answer.probability)

    def _compare(self, answer: Answer, label: Label) -> None:
        if isinstance(answer, ScoreAnswer):
            self.pairs.append((answer.score, float(label)))
            if float(label).is_integer():
                self.correct.append(most_probable(answer) == str(int(label)))
        elif isinstance(answer, BooleanAnswer):
            self.pairs.append((answer.probability, float(label)))
            self.correct.append(most_probable(answer) == str(bool(label)).lower())
        else:
            self.correct.append(answer.choice == label)

    def summary(self, rows: int) -> QuestionSummary:
        kind = self.question.type
        got, wanted = [a for a, _ in self.pairs], [b for _, b in self.pairs]
        errors = [abs(a - b) for a, b in self.pairs] if kind == "score" else []
        return QuestionSummary(
            type=kind,
            rows=rows,
            answered=self.best.total(),
            no_verdicts=dict(self.no_verdicts.most_common()),
            distribution={option: self.best[option] for option in self.question.options},
            methods=dict(self.methods.most_common()),
            mean_value=mean(self.values),
            mean_confidence=mean(self.confidences),
            mean_label_mass=mean(self.masses),
            flipped=proportion(sum(self.orders), len(self.orders)),
            accuracy=proportion(sum(self.correct), len(self.correct)),
            labelled=self.labelled,
            mean_absolute_error=mean(errors),
            correlation=correlation(got, wanted) if kind == "score" else None,
            auroc=auroc(got, [w > 0.5 for w in wanted]) if kind == "boolean" else None,
        )
