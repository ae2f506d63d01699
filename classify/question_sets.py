"""Sets of questions: plain mappings, and classes whose answers have types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.display.notebook import Shown
from classify.errors import ClassifyError, InvalidInput
from classify.json_values import check_json, is_object
from classify.questions import Boolean, Choice, Question, Score
from classify.validation import unknown_name

if TYPE_CHECKING:
    from classify.display.cards import Card

A = TypeVar("A", bound=Answer)
_KINDS: Mapping[str, type[Question]] = {"choice": Choice, "score": Score, "boolean": Boolean}


class NoVerdictError(ClassifyError):
    """An answer was asked for where the model gave no verdict."""

    def __init__(self, question: str, verdict: NoVerdict) -> None:
        """Keep the no-verdict, with its cause and evidence."""
        super().__init__(
            f"question {question!r} has no verdict ({verdict.cause}): {verdict.message}"
        )
        self.question, self.verdict = question, verdict


class Asked(Generic[A]):
    """A question as an attribute of a question set: reads as the question or as its answer."""

    def __init__(self, question: Question, kind: type[A]) -> None:
        """Take the question and the kind of its answer."""
        self.question, self._kind, self._name = question, kind, ""

    def __set_name__(self, owner: type[QuestionSet], name: str) -> None:
        """Take the attribute's name as the question's id."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[QuestionSet]) -> Question: ...
    @overload
    def __get__(self, instance: QuestionSet, owner: type[QuestionSet]) -> A: ...
    def __get__(self, instance: QuestionSet | None, owner: type[QuestionSet]) -> Question | A:
        """Return the question from the class, its answer from an instance."""
        if instance is None:
            return self.question
        answer = instance.answers[self._name]
        if isinstance(answer, NoVerdict):
            raise NoVerdictError(self._name, answer)
        assert isinstance(answer, self._kind)  # the gate has checked it
        return answer


@overload
def ask(question: Choice) -> Asked[ChoiceAnswer]: ...
@overload
def ask(question: Score) -> Asked[ScoreAnswer]: ...
@overload
def ask(question: Boolean) -> Asked[BooleanAnswer]: ...
def ask(
    question: Choice | Score | Boolean,
) -> Asked[ChoiceAnswer] | Asked[ScoreAnswer] | Asked[BooleanAnswer]:
    """Make a question an attribute of a question set."""
    if isinstance(question, Choice):
        return Asked(question, ChoiceAnswer)
    if isinstance(question, Score):
        return Asked(question, ScoreAnswer)
    return Asked(question, BooleanAnswer)


class QuestionSet(Shown):
    """Questions as class attributes, so that type-checkers know the kind of each answer.

    >>> class Ticket(QuestionSet):
    ...     topic = ask(Choice(criteria={"billing": None, "delivery": None}))
    ...     angry = ask(Boolean())
    >>> list(Ticket.questions())
    ['topic', 'angry']

    An instance, as `Evaluation.read` returns it, holds answers: `ticket.topic` is a ChoiceAnswer.
    A question that got no verdict raises NoVerdictError when it is read.
    """

    def __init__(self, answers: Mapping[str, Answer | NoVerdict]) -> None:
        """Take an answer for each question."""
        self.answers = answers

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Refuse a question that `ask` was left out for: it would never be asked."""
        super().__init_subclass__(**arguments)
        for name, value in vars(cls).items():
            if isinstance(value, Choice | Score | Boolean):
                kind = type(value).__name__
                raise InvalidInput(
                    f"{cls.__name__}.{name} is a bare {kind}, which is never asked: "
                    f"write {name} = ask({kind}(…))"
                )

    @classmethod
    def questions(cls) -> dict[str, Question]:
        """Return question id -> question, in the order of declaration, parents first."""
        return {
            name: value.question
            for owner in reversed(cls.__mro__)
            for name, value in vars(owner).items()
            if isinstance(value, Asked)
        }

    def _card(self) -> Card:
        from classify.display.answer_cards import question_set_card

        return question_set_card(self)


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
    check_json(name, "question ids")
    return name


def _parse(name: str, question: object) -> Question:
    where = f"questions.{name}"
    if isinstance(question, Choice | Score | Boolean):
        # Its containers can be changed after construction, so its fields are checked again.
        given: object = question.model_dump(exclude_unset=True) | {"type": question.type}
    else:
        given = question
    if not is_object(given):
        raise InvalidInput(f"{where}: must be a question or an object with a type, got {given!r}")
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInput(f"{where}: invalid type: {unknown_name('type', kind, _KINDS)}")
    fields: dict[str, Any] = {str(key): value for key, value in given.items()}
    try:
        return _KINDS[kind](**fields)
    except InvalidInput as error:
        raise type(error)(f"{where}: {error}") from None
