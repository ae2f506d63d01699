"""An explanation as lines of text: each prompt as sent, what it showed, and how that was used."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from classify.display.explanation import Asked, Explanation
from classify.display.screen import Screen
from classify.display.sent_prompts import SentPrompt
from classify.display.terminal import folded, title_lines, verdict_lines
from classify.display.terminal_bars import bar_lines, styled
from classify.evidence import OrderSeen, SeenToken
from classify.language_model import Message, Prompt, TextPrompt

_DEEPER = "    "
_MOST_OTHERS = 20
"""Alternatives that are no label, beyond which the rest are counted."""


def explanation_lines(found: Explanation, screen: Screen) -> list[Text]:
    """Return the lines of one question's explanation, no wider than the screen."""
    lines = title_lines(found.answer, screen)
    if found.reasons is not None:
        lines += _heading("reasons first", found.reasons.told, screen)
        lines += _prompt(found.reasons.prompt, screen)
        lines += _quoted(found.answer.reason or "", screen, "written by the model")
    lines += _heading("reading", found.reading, screen)
    several = len(found.asked) > 1
    for asked in found.asked:
        lines += _asked(asked, screen, several=several)
    for step in found.steps:
        lines += _heading(step.name, step.rule, screen)
        # The last distribution is the answer's, which follows.
        if step is not found.steps[-1] or not found.answer.bars:
            lines += bar_lines(step.bars, screen, indent=4, whole=True)
    lines += _heading("answer", found.answer.verdict, screen)
    return [*lines, *verdict_lines(found.answer, screen, whole=True)]


def _heading(name: str, told: str, screen: Screen, style: str = "") -> list[Text]:
    first, *more = styled(folded(f"{name}: {screen.safe(told)}", screen), style)
    first.stylize("bold", 2, 2 + len(name))
    return [Text(""), first, *more]


def _asked(asked: Asked, screen: Screen, *, several: bool) -> list[Text]:
    lines = _heading(asked.place, _check(asked.sent), screen, _check_style(asked.sent))
    lines += _prompt(asked.sent.prompt, screen)
    seen = asked.seen
    place = "" if seen.position is None else f", at generated token {seen.position}"
    lines += styled(folded(f"label mass {seen.label_mass:.3g}{place}", screen))
    names = {bar.option: screen.safe(bar.name) for bar in asked.bars}
    if not several and seen.token_logprobs is None:
        lines += styled(folded(f"labels: {'; '.join(names.values())}", screen))
    lines += _alternatives(seen, names, screen) + _words(seen, names, screen)
    # Of a single prompt the distribution is the answer's, which follows.
    return lines + (bar_lines(asked.bars, screen, indent=4, whole=True) if several else [])


def _check(sent: SentPrompt) -> str:
    return (
        f"{sent.told} (SHA-256 {(sent.prompt_hash or '')[:12]})" if sent.prompt_hash else sent.told
    )


def _check_style(sent: SentPrompt) -> str:
    return "yellow" if sent.matches is False else ""


def _prompt(prompt: Prompt | None, screen: Screen) -> list[Text]:
    if prompt is None:
        return []
    if isinstance(prompt, TextPrompt):
        return _quoted(prompt.text, screen, "text to be continued")
    count = len(prompt.messages)
    return [
        line
        for number, message in enumerate(prompt.messages, start=1)
        for line in _quoted(message.content, screen, _role(message, number, count))
    ]


def _role(message: Message, number: int, count: int) -> str:
    continued = ", to be continued" if message.role == "assistant" and number == count else ""
    return f"{message.role}, message {number} of {count}{continued}"


def _quoted(text: str, screen: Screen, title: str) -> list[Text]:
    """Return a text between marks, each line behind one: it can neither end nor continue itself."""
    begin, line_mark, more_mark, end = "┌│┊└" if screen.can_show("┌│┊└") else "+|:+"
    lines = styled([f"  {begin} {title}"], "dim")
    for part in text.split("\n"):
        first, *more = screen.folded(screen.safe(part), screen.width - 4)
        lines += styled([f"  {line_mark} {first}", *(f"  {more_mark} {line}" for line in more)])
    return lines + styled([f"  {end} end of {title}"], "dim")


def _alternatives(seen: OrderSeen, names: Mapping[str, str], screen: Screen) -> list[Text]:
    if not seen.alternatives:
        return []
    others = [token for token in seen.alternatives if token.label is None]
    left = set(map(id, others[_MOST_OTHERS:]))
    shown = [token for token in seen.alternatives if id(token) not in left]
    width = max(6, min(16, screen.width - 32))
    head = f"{_DEEPER}{'token':<{width}}  logprob        p  counted for"
    lines = styled([screen.fitted(head, screen.width).rstrip()], "dim")
    for token in shown:
        name = "" if token.label is None else names.get(seen.labels[token.label], token.label)
        lines += styled([_token(token, name, screen, width)])
    if left:
        rest = sum(_probability(token) for token in others[_MOST_OTHERS:])
        told = f"{len(left)} more that are no label, {100 * rest:.2g} % together"
        lines += styled(folded(told, screen, indent=_DEEPER), "dim")
    return lines


def _token(token: SeenToken, name: str, screen: Screen, width: int) -> str:
    text = screen.fitted(screen.safe(repr(token.token)), width)
    line = f"{_DEEPER}{text} {_logprob(token.logprob):>8} {_probability(token):>8.3g}  "
    return (line + screen.fitted(name, screen.width - cell_len(line))).rstrip()


def _probability(token: SeenToken) -> float:
    return 0.0 if token.logprob is None else math.exp(token.logprob)


def _words(seen: OrderSeen, names: Mapping[str, str], screen: Screen) -> list[Text]:
    """Return each word with the option it was counted for, and its tokens' logprobs."""
    lines: list[Text] = []
    for word, logprobs in (seen.token_logprobs or {}).items():
        option = names[seen.labels[word]]
        text = f"{screen.safe(repr(word))} for {option}: logprob {_logprobs(logprobs)}"
        lines += styled(folded(text, screen, indent=_DEEPER))
    return lines


def _logprobs(logprobs: Sequence[float | None]) -> str:
    listed = " ".join(map(_logprob, logprobs))
    if len(logprobs) == 1:
        return listed
    known = [value for value in logprobs if value is not None]
    whole = sum(known) if len(known) == len(logprobs) else None
    return f"{listed} of {len(logprobs)} tokens, sum {_logprob(whole)}"


def _logprob(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
