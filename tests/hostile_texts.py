"""Texts that try to be markup, to move the cursor or to hide: the reference that tests share."""

from __future__ import annotations

import json
from pathlib import Path

_FILE = Path(__file__).parent / "references" / "hostile_texts.json"
_READ: dict[str, dict[str, str]] = json.loads(_FILE.read_text("utf-8"))

HOSTILE = _READ["texts"]
SURROGATES = _READ["surrogates"]
"""Lone halves of a pair, which no file in UTF-8 can hold."""
