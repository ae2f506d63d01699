"""Find the JSON in a model's text: fenced, pretty-printed, after a draft, between sentences."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError

_OPENING = re.compile(r"[{\[]")


def json_texts(text: str) -> list[str]:
    """Return the outermost JSON objects and lists of a text in their order, each as written.

    A text that is JSON as a whole is the only one, whatever its kind. What stands inside a broken
    or cut-off object is never taken for an object of its own.

    >>> json_texts('Draft {"a": 1}, final: ```json {"a": {"b": 2}}```')
    ['{"a": 1}', '{"a": {"b": 2}}']
    >>> json_texts('{"reason": {"score": 1}, "sco')
    []
    """
    whole = text.strip()
    if whole and _end(whole, 0) == (True, len(whole)):
        return [whole]
    found: list[str] = []
    at = 0
    while opening := _OPENING.search(text, at):
        begin = opening.start()
        valid, end = _end(text, begin)
        if valid:
            found.append(text[begin:end])
        at = max(end, begin + 1)
    return found


def _end(text: str, at: int) -> tuple[bool, int]:
    """Return whether JSON begins there, and where it ends or where it breaks."""
    constants: list[str] = []
    decoder = json.JSONDecoder(parse_constant=constants.append)
    try:
        _, end = decoder.raw_decode(text, at)
    except JSONDecodeError as error:
        # What follows the opening of a string that never ends is inside it.
        cut = error.msg.startswith("Unterminated string")
        return False, len(text) if cut else error.pos
    except RecursionError:
        return False, len(text)
    # NaN and Infinity are Python's own: other readers take them for broken.
    return not constants, end
