"""One state's answers, for people: a bar per option, and what the numbers rest on."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.display.safe_text import fitted, visible
from classify.evaluation import Evaluation
from classify.questions import Question

_WIDEST_NAME = 28
_NUMBER = 7
_BOUNDS = 15
_SHOWN_WIDTH = 5e-4
"""Intervals narrower than what is shown of a number are not shown."""


def answer_bars(
    evaluation: Evaluation, questions: dict[str, Question], *, width: int, blocks: bool
) -> Group:
    """Return every answer; `blocks` says whether the output can show block characters."""
    parts: list[Text] = []
    for name, answer in evaluation.answers.items():
        parts += _title(name, questions[name], answer)
        if not isinstance(answer, NoVerdict):
            parts += _bars(questions[name], answer, width=width, blocks=blocks)
        parts += _grounds(answer)
    return Group(*parts, *_closing(evaluation))


def _title(name: str, question: Question, answer: Answer | NoVerdict) -> list[Text]:
    title = Text(visible(name), style="bold")
    return [title.append(f" ({question.type}): {_verdict(answer)}", style="not bold")]


def _verdict(answer: Answer | NoVerdict) -> str:
    if isinstance(answer, NoVerdict):
        return f"no verdict ({answer.cause}): {visible(answer.message)}"
    if isinstance(answer, ChoiceAnswer):
        return visible(answer.choice) + (" (tie)" if answer.tie else "")
    if isinstance(answer, BooleanAnswer):
        return f"P(true) = {answer.probability:.3f}"
    low, high = answer.score_range or (answer.score, answer.score)
    known = "" if high - low < _SHOWN_WIDTH else f" (known to lie in {low:.3f} to {high:.3f})"
    return f"{answer.score:.3f}{known}"


def _bars(question: Question, answer: Answer, *, width: int, blocks: bool) -> list[Text]:
    if answer.probabilities is None:
        return [Text("  the model gave no probabilities")]
    names = {option: _option_name(question, option) for option in answer.probabilities}
    name_width = min(_WIDEST_NAME, max(len(name) for name in names.values()) + 1, width // 3)
    bounds = {
        option: (low, high)
        for option, (low, high) in (answer.bounds or {}).items()
        if high - low >= _SHOWN_WIDTH
    }
    bar_width = max(8, width - name_width - _NUMBER - 5 - (_BOUNDS if bounds else 0))
    best = max(answer.probabilities, key=answer.probabilities.__getitem__)
    lines: list[Text] = []
    for option, p in answer.probabilities.items():
        low, high = bounds.get(option, (p, p))
        line = Text("  " + fitted(names[option], name_width) + " ", no_wrap=True)
        line.append_text(_bar(p, high, bar_width, blocks=blocks))
        line.append(f" {100 * p:{_NUMBER - 2}.1f} %", style="bold" if option == best else "")
        if option in bounds:
            line.append(f" {100 * low:.1f} to {100 * high:.1f}", style="dim")
        lines.append(line)
    return lines


def _option_name(question: Question, option: str) -> str:
    if question.type != "score":
        return option
    text = question.described(option)
    return f"{option} {text}" if isinstance(text, str) else option


def _bar(p: float, high: float, width: int, *, blocks: bool) -> Text:
    """Return a solid bar up to the probability, and a light one up to what it may be at most."""
    solid, light, empty = "█░ " if blocks else "#- "
    full = round(p * width)
    tail = max(0, round(min(1.0, high) * width) - full)
    bar = Text(solid * full, style="cyan")
    bar.append(light * tail, style="cyan dim")
    return bar.append(empty * (width - full - tail))


def _grounds(answer: Answer | NoVerdict) -> list[Text]:
    """Say what the numbers rest on: label mass, method, orders, flags."""
    facts = [f"method {answer.method}"]
    if answer.label_mass is not None:
        facts.insert(0, f"label mass {answer.label_mass:.3g}")
    evidence = answer.evidence
    if evidence is not None:
        facts += [f"readout {evidence.readout}"] if evidence.readout else []
        facts += [f"prompt {evidence.prompt_form}"] if evidence.prompt_form else []
        if len(evidence.orders) > 1:
            facts.append(f"{len(evidence.orders)} orders, {evidence.flips} flips")
        if evidence.unseen:
            facts.append(f"{len(evidence.unseen)} options not shown by the model: bounded")
        facts += [f"prior divided out ({evidence.prior_method})"] if evidence.prior_method else []
        facts += [visible(warning) for warning in evidence.warnings]
    lines = [Text("  " + "; ".join(facts), style="dim")]
    if evidence is not None and evidence.reason:
        lines.append(Text("  reason: " + visible(evidence.reason, keep="\n")))
    return [*lines, Text("")]


def _closing(evaluation: Evaluation) -> list[Text]:
    usage = evaluation.usage
    tokens = (
        "tokens unknown"
        if usage.input_tokens is None
        else f"{usage.input_tokens} tokens in, {usage.output_tokens or 0} out"
    )
    model = visible(evaluation.response.model_id or "unknown model")
    seconds = f"{evaluation.seconds:.2f} s"
    lines = [Text(f"{model}; {tokens}; {evaluation.attempts} requests; {seconds}")]
    return lines + [Text(f"warning: {visible(w)}", style="yellow") for w in evaluation.warnings]
