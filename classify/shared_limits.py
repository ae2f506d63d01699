"""One limit of requests in flight for each endpoint, shared by all who ask it in one event loop.

Without it, twenty classifiers of eight requests each would send 160 at once to a server that takes
ten. Connections belong to an event loop, and so do limits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from classify.calls import FIRST_IN_FLIGHT, Limiter

concurrency_asked: ContextVar[int] = ContextVar("concurrency_asked", default=FIRST_IN_FLIGHT)
"""The `concurrency` of an evaluation that names none: what runs many of them sets its own."""


@dataclass(slots=True)
class _Endpoint:
    limiter: Limiter
    model: object
    """Kept, so that no other model gets its id meanwhile."""
    asked: Counter[int] = field(default_factory=Counter[int])
    """Concurrency -> how many ask for it now."""


ENDPOINTS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, _Endpoint]] = (
    WeakKeyDictionary()
)
"""Event loop -> an endpoint's address, or its model's id -> those in use."""


@contextmanager
def shared_limiter(model: object, concurrency: int | None) -> Generator[Limiter]:
    """Give the limiter of a model's endpoint in the running event loop.

    Models at one address share one. Its bound is the largest `concurrency` of those who are inside
    now; None asks for what the surroundings do. Raises InvalidInput below 1.
    """
    most = concurrency_asked.get() if concurrency is None else concurrency
    model = getattr(model, "language_model", model)
    address = getattr(model, "base_url", None)
    key: Hashable = address if isinstance(address, str) and address else id(model)
    fresh = _Endpoint(Limiter(most), model)
    endpoints = _endpoints()
    endpoint = endpoints.setdefault(key, fresh)
    endpoint.asked[most] += 1
    endpoint.limiter.most = max(endpoint.asked)
    try:
        yield endpoint.limiter
    finally:
        endpoint.asked[most] -= 1
        endpoint.asked += Counter()  # drops what nobody asks for any more
        if endpoint.asked:
            endpoint.limiter.most = max(endpoint.asked)
        else:
            del endpoints[key]


def _endpoints() -> dict[Hashable, _Endpoint]:
    loop = asyncio.get_running_loop()
    if loop not in ENDPOINTS:
        # What still waits in a closed loop would keep it.
        for known in filter(None, [reference() for reference in ENDPOINTS.keyrefs()]):
            if known.is_closed():
                ENDPOINTS.pop(known, None)
        ENDPOINTS[loop] = {}
    return ENDPOINTS[loop]
