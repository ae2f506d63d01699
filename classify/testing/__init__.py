"""For users' own tests: scripted models, and a loopback server in OpenAI's shape."""

from __future__ import annotations

from classify.testing.scripted import ScriptedLanguageModel, ScriptedModel, position_reply
from classify.testing.server import LoopbackServer
from classify.testing.server_answers import Answer, Request, error, likely, throttled

__all__ = [
    "Answer",
    "LoopbackServer",
    "Request",
    "ScriptedLanguageModel",
    "ScriptedModel",
    "error",
    "likely",
    "position_reply",
    "throttled",
]
