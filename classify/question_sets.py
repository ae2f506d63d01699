"""Sets of questions: plain mappings, and classes whose answers have types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, TypeVar

from classify.answers import Answer, NoVerdict
from classify.errors import ClassifyError, InvalidInput
from classify.questions import Boolean, Choice, Question, Score
from classify.validation import unknown_name

A = TypeVar("A", bound=Answer)
_KINDS: Mapping[str, type[Question]] = {"choice": Choice, "score": Score, "boolean": Boolean}


class NoVerdictError(ClassifyError):
    """An answer was asked for where the model gave no verdict."""

    def __init__(self, question: str, verdict: NoVerdict) -> None:
        """Keep the no-verdict, with its cause and evidence."""
        super().__init__(f"question {question!r} has no verdict ({verdict.cause}): {verdict.message}")
        self.question, self.verdict = question, verdict


class QuestionSet:
    """Questions as class attributes, so that type-checkers know the kind of each answer.

    >>> class Ticket(QuestionSet):
    ...     topic = Choice(criteria={"billing": None, "delivery": None})
    ...     angry = Boolean()
    >>> sorted(Ticket.questions())
    ['angry', 'topic']

    An instance holds answers: `ticket.topic` is a ChoiceAnswer. A question that got no verdict
    raises NoVerdictError when it is read.
    """

    _names: ClassVar[dict[int, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Collect the questions, those of parent classes first."""
        super().__init_subclass__(**kwargs)
        cls._names = {id(question): name for name, question in cls.questions().items()}

    def __init__(self, answers: Mapping[str, Answer | NoVerdict]) -> None:
        """Take an answer for each question."""
        self._answers = answers

    @classmethod
    def questions(cls) -> dict[str, Question]:
        """Return question id -> question, in the order of declaration."""
        found: dict[str, Question] = {}
        for owner in reversed(cls.__mro__):
            for name, value in vars(owner).items():
                if isinstance(value, Choice | Score | Boolean):
                    found[name] = value
        return found

    def answer_to(self, question: Question, kind: type[A]) -> A:
        """Return the answer to one of the set's questions."""
        name = self._names[id(question)]
        answer = self._answers[name]
        if isinstance(answer, NoVerdict):
            raise NoVerdictError(name, answer)
        assert isinstance(answer, kind)  # the gate has checked it
        return answer


Questions: TypeAlias = Mapping[str, "Choice | Score | Boolean | Mapping[str, Any]"]
"""Question id -> question, or a plain mapping of its fields."""


def parse_questions(questions: Questions | type[QuestionSet]) -> dict[str, Question]:
    """Return the questions, validated; raises InvalidInput naming the question and the field."""
    if isinstance(questions, type) and issubclass(questions, QuestionSet):
        questions = questions.questions()
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidInput(
            f"questions must be a non-empty object of question id: question, got {questions!r}"
        )
    return {_checked_id(name): _parse(name, question) for name, question in questions.items()}


def _checked_id(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput(f"question ids must be non-empty strings, got {name!r}")
    return name


def _parse(name: str, question: object) -> Question:
    where = f"questions.{name}"
    if isinstance(question, Choice | Score | Boolean):
        # Its containers can be changed after construction, so its fields are checked again.
        question = question.model_dump(exclude_unset=True) | {"type": question.type}
    if not isinstance(question, Mapping):
        raise InvalidInput(
            f"{where}: must be a question or an object with a type, got {question!r}"
        )
    kind = question.get("type")
    if kind not in _KINDS:
        raise InvalidInput(f"{where}: invalid type: {unknown_name('type', kind, _KINDS)}")
    try:
        return _KINDS[kind](**{str(key): value for key, value in question.items()})
    except InvalidInput as error:
        raise type(error)(f"{where}: {error}") from None
