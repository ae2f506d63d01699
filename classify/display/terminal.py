"""Answers as lines of text: the verdict, its bars, what to notice, and what the numbers rest on."""

from __future__ import annotations

from rich.text import Text

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.display.screen import Screen
from classify.display.terminal_bars import bar_lines, styled
from classify.display.views import AnswerView, answer_view, answer_views, label_text, tokens_text
from classify.evaluation import Evaluation
from classify.results import Result

_INDENT = "  "


def lines(shown: object, screen: Screen) -> list[Text]:
    """Return the lines of an evaluation, a result or an answer, no wider than the screen."""
    if isinstance(shown, Evaluation):
        return _evaluation(shown, screen)
    if isinstance(shown, Result):
        return _result(shown, screen)
    if isinstance(shown, ChoiceAnswer | ScoreAnswer | BooleanAnswer | NoVerdict):
        return answer_lines(answer_view("", shown), screen)
    raise TypeError(f"an evaluation, a result or an answer is shown, not {type(shown).__name__}")


def answer_lines(view: AnswerView, screen: Screen) -> list[Text]:
    """Return the lines of one answer."""
    found = [*title_lines(view, screen), *verdict_lines(view, screen)]
    if view.reason:
        text = screen.safe(view.reason.strip(), keep="\n")
        found += styled(folded(f"reason: {text}", screen))
    return found


def verdict_lines(view: AnswerView, screen: Screen, *, whole: bool = False) -> list[Text]:
    """Return the bars, what to notice and what they rest on; every option's bar if `whole`."""
    message = () if view.message is None else folded(screen.safe(view.message), screen)
    return [
        *styled(message),
        *bar_lines(view.bars, screen, whole=whole),
        *_flag_lines(view, screen),
        *styled(folded("; ".join(map(screen.safe, view.facts)), screen), "dim"),
    ]


def title_lines(view: AnswerView, screen: Screen) -> list[Text]:
    """Return the question's name and kind, and the verdict."""
    name = screen.safe(view.question)
    title = f"{name} ({view.kind})" if name else view.kind
    first, *more = styled(screen.folded(f"{title}: {screen.safe(view.verdict)}", screen.width))
    first.stylize("bold", 0, len(name or view.kind))
    return [first, *more]


def _flag_lines(view: AnswerView, screen: Screen) -> list[Text]:
    texts = (f"! {flag.name}: {screen.safe(flag.told)}" for flag in view.flags)
    return [line for text in texts for line in styled(folded(text, screen), "yellow")]


def folded(text: str, screen: Screen, *, indent: str = _INDENT) -> list[str]:
    """Return safe text in indented lines that fit the screen."""
    return [indent + line for line in screen.folded(text, screen.width - len(indent))]


def closing_lines(evaluation: Evaluation, screen: Screen) -> list[Text]:
    """Return the model, what the answers took, and warnings that no answer has already shown."""
    model = screen.safe(evaluation.response.model_id or "unknown model")
    requests = _counted(evaluation.attempts, "request")
    told = f"{model}; {tokens_text(evaluation.usage)}; {requests}; {evaluation.seconds:.2f} s"
    shown = {
        warning
        for answer in evaluation.answers.values()
        if answer.evidence is not None
        for warning in answer.evidence.warnings
    }
    warnings = [warning for warning in evaluation.warnings if warning not in shown]
    found = styled(screen.folded(told, screen.width))
    for warning in warnings:
        text = f"warning: {screen.safe(warning)}"
        found += styled(screen.folded(text, screen.width), "yellow")
    return found


def _evaluation(evaluation: Evaluation, screen: Screen) -> list[Text]:
    found: list[Text] = []
    for view in answer_views(evaluation.answers, evaluation.questions):
        found += [*answer_lines(view, screen), Text("")]
    return found + closing_lines(evaluation, screen)


def _result(result: Result, screen: Screen) -> list[Text]:
    parts = [f"row {result.id}"]
    parts += [f"label of {name}: {label_text(label)}" for name, label in result.labels.items()]
    found = styled(screen.folded("; ".join(map(screen.safe, parts)), screen.width))
    if result.error is not None:
        told = f"no answers: {result.error.type}: {result.error.message}"
        return found + styled(screen.folded(screen.safe(told), screen.width), "red")
    return [*found, Text(""), *_evaluation(result.evaluation(""), screen)]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
