"""Wait for what may be there already."""

from __future__ import annotations

import inspect
from typing import Any


# Any: what an author's function gives is theirs to choose.
async def settled(value: Any) -> Any:
    """Return what a function gave, waited for where it was asynchronous."""
    return await value if inspect.isawaitable(value) else value
