"""For users' own tests: a loopback server in OpenAI's shape."""

from __future__ import annotations

from classify.testing.server import LoopbackServer
from classify.testing.server_answers import Answer, Request, error, likely, throttled

__all__ = ["Answer", "LoopbackServer", "Request", "error", "likely", "throttled"]
