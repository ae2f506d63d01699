"""A distribution as lines of text: a bar per option, what it may be at most as a lighter tail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from classify.display.screen import Screen
from classify.display.views import Bar

_WIDEST_NAME = 28
_NAME_LINES = 3
_NUMBER = 8
"""Cells of " 100.0 %"."""
_SHORTEST_BAR = 12
"""A note beside a shorter bar goes below it."""
_MOST_BARS = 20


def bar_lines(
    bars: Sequence[Bar], screen: Screen, *, indent: int = 2, whole: bool = False
) -> list[Text]:
    """Return a line per option; beyond 20 options the likeliest ones, unless `whole`."""
    shown = bars if whole else _likeliest(bars)
    room = screen.width - indent
    named = [(bar, screen.safe(bar.name)) for bar in shown]
    widest = max((cell_len(name) for _, name in named), default=0)
    name_width = min(_WIDEST_NAME, widest, max(room // 3, 1))
    notes = max((len(_note(bar)) for bar in shown), default=0)
    beside = room - name_width - 1 - _NUMBER - (notes + 2 if notes else 0) >= _SHORTEST_BAR
    bar_width = room - name_width - 1 - _NUMBER - (notes + 2 if notes and beside else 0)
    lines: list[Text] = []
    for bar, name in named:
        first, *more = screen.folded(name, name_width, most=_NAME_LINES)
        line = _line(" " * indent + screen.fitted(first, name_width) + " ")
        line.append_text(_bar(bar, bar_width, screen))
        line.append(f"{100 * bar.probability:{_NUMBER - 2}.1f} %", "bold" if bar.best else "")
        note = _note(bar)
        if note and beside:
            line.append(f"  {note}", "dim")
        lines.append(line)
        lines += [_line(" " * indent + rest) for rest in more]
        if note and not beside:
            lines.append(_line(" " * (indent + name_width + 1) + note, "dim"))
    if len(shown) < len(bars):
        lines.append(_line(" " * indent + _others(bars, shown), "dim"))
    return lines


def _line(text: str, style: str = "") -> Text:
    line = Text(no_wrap=True, overflow="ignore")
    return line.append(text, style)


def _likeliest(bars: Sequence[Bar]) -> Sequence[Bar]:
    if len(bars) <= _MOST_BARS:
        return bars
    ranked = sorted(range(len(bars)), key=lambda k: bars[k].probability, reverse=True)
    return [bars[k] for k in sorted(ranked[:_MOST_BARS])]


def _others(bars: Sequence[Bar], shown: Sequence[Bar]) -> str:
    kept = {bar.option for bar in shown}
    others = [bar.probability for bar in bars if bar.option not in kept]
    together = _percent(sum(others))
    return f"{len(others)} others: {together} % together, {_percent(max(others))} % at most each"


def _note(bar: Bar) -> str:
    if bar.raw is not None:
        return f"raw {_percent(bar.raw)}"
    return "" if bar.exact else f"{_percent(bar.low)} to {_percent(bar.high)}"


def _percent(p: float) -> str:
    return f"{100 * p:.1f}"


def _bar(bar: Bar, width: int, screen: Screen) -> Text:
    """Return a solid bar up to the probability, and a light one up to what it may be at most."""
    solid, light = "█░" if screen.can_show("█░") else "#-"
    full = round(min(bar.probability, 1.0) * width)
    tail = max(0, round(min(bar.high, 1.0) * width) - full)
    text = Text(solid * full, "cyan")
    text.append(light * tail, "cyan dim")
    return text.append(" " * (width - full - tail))


def styled(lines: Iterable[str], style: str = "") -> list[Text]:
    """Return lines that are laid out as they are to be shown: rich folds none again."""
    return [_line(line, style) for line in lines]
