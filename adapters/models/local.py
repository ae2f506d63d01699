"""The model in the box: `local`, or `local/PATH.gguf`, run inside this process.

No key and no network. `local` is SmolLM2-135M-Instruct: a very small model, whose words after a
plain text can be compared, and whose answers to questions cannot be trusted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from classify.adapters.models.eight_bits import fastest
from classify.adapters.models.engine import Choose, Engine, Settings, running
from classify.adapters.models.llama_http import LlamaHTTP
from classify.adapters.models.llama_server import LlamaServerModel, capabilities_of
from classify.adapters.models.weights import MODEL, check_gguf, locate
from classify.errors import InvalidInput, MissingExtra
from classify.json_values import JSON
from classify.language_model import (
    Capabilities,
    LanguageModel,
    Prompt,
    Reply,
    Sampling,
    TextScores,
)

_CONTEXT = 2048


def from_name(model_id: str) -> LanguageModel:
    """Return the embedded model, or the one in the GGUF file named; nothing is started yet.

    CLASSIFY_LOCAL_CONTEXT (tokens, 2048) and CLASSIFY_LOCAL_THREADS (all cores) change how it
    runs. Raises MissingExtra without the engine, CapabilityError without the weights,
    InvalidInput for a file that is no model.
    """
    if find_spec("xllamacpp") is None:
        raise MissingExtra("xllamacpp", "local", "the embedded model")
    if model_id:
        path = check_gguf(Path(model_id).expanduser())
        return LocalModel(model_id, str(path), lambda: (path, path.stem))
    published = locate()
    return LocalModel(MODEL, MODEL, lambda: fastest(published))


class LocalModel:
    """A model run by the engine inside this process."""

    provider = "local"

    def __init__(self, model_id: str, source: str, choose: Choose) -> None:
        """Take the name; models of one source share an engine, which runs the file chosen."""
        self.model_id = model_id
        self._choose = choose
        self._settings = Settings(
            source=source,
            context=_setting("CLASSIFY_LOCAL_CONTEXT", _CONTEXT),
            threads=_setting("CLASSIFY_LOCAL_THREADS", _cores()),
        )
        self._model: LlamaServerModel | None = None

    @property
    def settings(self) -> dict[str, object]:
        """What it runs, for the fingerprint of answers: files and formats give other numbers."""
        return {"source": self._settings.source, "eight_bits": find_spec("gguf") is not None}

    async def capabilities(self) -> Capabilities:
        """Return what the engine can do; does not start it."""
        return capabilities_of("local")

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Continue the prompt."""
        return await (await self._started()).complete(prompt, sampling, options=options)

    async def score(
        self, prompt: Prompt, texts: Sequence[str], *, options: Mapping[str, JSON]
    ) -> TextScores:
        """Return the exact logprobs of each text's tokens after the prompt.

        The same prompt and texts give the same numbers to the last bit, whatever was asked
        before, on one machine with one number of threads.
        """
        return await (await self._started()).score(prompt, texts, options=options)

    async def engine(self) -> Engine:
        """Return the engine, started if need be; its address and key serve any other client."""
        return await running(self._settings, self._choose)

    async def aclose(self) -> None:
        """Close the connections; the engine, which others may share, ends with the process."""
        if self._model is not None:
            await self._model.aclose()

    async def _started(self) -> LlamaServerModel:
        engine = await self.engine()
        if self._model is None:
            hints = {"context": "set CLASSIFY_LOCAL_CONTEXT to a larger number of tokens"}
            self._model = LlamaServerModel(
                LlamaHTTP(engine.base_url, api_key=engine.key, hints=hints),
                self.model_id,
                provider=self.provider,
                slots=engine.slot,
                scored_by="local",
                fingerprint=engine.fingerprint,
            )
        return self._model


def _setting(name: str, otherwise: int) -> int:
    text = os.environ.get(name) or str(otherwise)
    if not text.isdecimal() or int(text) < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, got {text!r}")
    return int(text)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
