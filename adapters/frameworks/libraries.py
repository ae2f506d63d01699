"""Load a framework's library when it is used, and say which extra brings it where it is not."""

from __future__ import annotations

import importlib
from types import ModuleType

from classify.errors import MissingExtra


def load(module: str, extra: str) -> ModuleType:
    """Return a module of an optional library; raises MissingExtra where it is not installed."""
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise  # the library is there, and something that it needs is not
        raise MissingExtra(extra, extra, f"the adapter to {library}") from error
