"""Run llama.cpp inside this process: one server per model file, on loopback, for us alone.

It starts at the first request and stops when the process ends. It knows nothing of which model
is a good one.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import os
import platform
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from classify.adapters.models.slots import OwnSlot
from classify.errors import CapabilityError, MissingExtra
from classify.loop_clients import close_all_at_exit

_LIBRARY = "xllamacpp"
# Compiled into the engine's wheels for x86, which do not look before they use them.
_NEEDED_FLAGS = ["avx2", "bmi2", "f16c", "fma"]
_BATCH = 256
_LAST_STARTS_SECONDS = 60.0


Choose: TypeAlias = Callable[[], tuple[Path, str]]
"""Return the file to run and the name to report for it; may take its time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to run, and how; one engine runs for each."""

    source: str
    """What distinguishes the model from others in this process."""
    context: int
    """The most tokens a prompt and its continuation may have."""
    threads: int


@dataclass(frozen=True, slots=True)
class Engine:
    """A running server."""

    base_url: str
    key: str
    slot: OwnSlot
    fingerprint: str
    """The engine's name and version, which decide the last digits of every number."""


_lock = threading.Lock()
_engines: dict[Settings, Future[Engine]] = {}
_servers: list[object] = []
_started_before_fork = False


async def running(settings: Settings, choose: Choose) -> Engine:
    """Return the engine with these settings, started in a thread if it is not running.

    Raises MissingExtra without the engine's library, CapabilityError where it cannot run.
    """
    with _lock:
        if _started_before_fork:
            raise CapabilityError(
                "the embedded model was started before this process was forked, and does not "
                "survive a fork: start worker processes by 'spawn' "
                "(multiprocessing.get_context('spawn')), or ask it first in the worker"
            )
        future = _engines.get(settings)
        if future is None:
            future = _engines[settings] = Future()
            # A daemon: nothing waits for it but those who await, and they can be interrupted.
            thread = threading.Thread(
                target=_start, args=(settings, choose, future), name="classify-engine", daemon=True
            )
            thread.start()
    return await asyncio.shield(asyncio.wrap_future(future))


def library() -> ModuleType:
    """Import the engine; raise MissingExtra or CapabilityError instead of a crash."""
    check_processor()
    # Threads that wait for work otherwise spin, and take the processor from everyone: 4 times
    # slower under load. Read when the library is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return import_module(_LIBRARY)
    except ModuleNotFoundError:
        raise MissingExtra(_LIBRARY, "local", "the embedded model") from None
    except ImportError as error:
        way_out = (
            "install it: apt-get install libgomp1 (Debian, Ubuntu), dnf install libgomp (Fedora)"
            if "libgomp" in str(error)
            else f"reinstall it: pip install --force-reinstall {_LIBRARY}"
        )
        raise CapabilityError(f"{_LIBRARY} cannot be loaded: {error}; {way_out}") from error


def check_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> None:
    """Raise CapabilityError on a processor that would end the process with SIGILL."""
    if platform.machine().lower() not in ("x86_64", "amd64") or not cpuinfo.is_file():
        return
    lines = cpuinfo.read_text(errors="replace").splitlines()
    flags = next((line.split() for line in lines if line.startswith("flags")), _NEEDED_FLAGS)
    missing = [flag for flag in _NEEDED_FLAGS if flag not in flags]
    if missing:
        raise CapabilityError(
            f"this processor lacks {', '.join(missing)}, which the embedded engine needs: use a "
            f"llama.cpp server built for it (llamacpp/NAME), or a hosted model"
        )


def _start(settings: Settings, choose: Choose, future: Future[Engine]) -> None:
    try:
        engine = _serve(settings, *choose())
    except BaseException as error:
        with _lock:
            _engines.pop(settings, None)
        future.set_exception(error)
    else:
        future.set_result(engine)


def _serve(settings: Settings, path: Path, alias: str) -> Engine:
    llama, key = library(), secrets.token_urlsafe(32)
    parameters = _parameters(llama, settings, key)
    parameters.model.path, parameters.model_alias = str(path), {alias}
    try:
        server = llama.Server(parameters)
    except RuntimeError as error:  # it gives no reason
        raise CapabilityError(
            f"llama.cpp could not load {str(path)!r} ({error}): is the file complete, "
            f"and is there memory for it and for a context of {settings.context} tokens?"
        ) from error
    # A server that is dropped before it has answered once never returns.
    server.handle_completions({"prompt": "a", "max_tokens": 1})
    with _lock:
        _servers.append(server)
    return Engine(
        base_url=server.listening_address,
        key=key,
        slot=OwnSlot(),
        fingerprint=f"{_LIBRARY}-{version(_LIBRARY)}",
    )


def _parameters(llama: ModuleType, settings: Settings, key: str) -> Any:  # it has no types
    p = llama.CommonParams()
    p.n_ctx, p.n_parallel = settings.context, 1
    # A request is given up, and the process can end, between two batches: about a second's work.
    p.n_batch = p.n_ubatch = _BATCH
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = settings.threads
    p.hostnames, p.port, p.api_keys = ["127.0.0.1"], 0, [key]
    p.ui, p.endpoint_slots, p.cors_origins = False, False, "localhost"
    p.verbosity = -1
    p.cache_ram_mib = 0  # a second cache, of up to 8 GiB
    p.swa_full = True  # without it, models with a sliding window cannot keep a prompt's beginning
    return p


@atexit.register
def _stop() -> None:
    with _lock:
        starting = list(_engines.values())
    for future in starting:  # stopping half-way through a start crashes
        try:
            future.exception(timeout=_LAST_STARTS_SECONDS)
        except TimeoutError:
            return
    close_all_at_exit()  # a server with a request under way never stops
    _servers.clear()


def _after_fork() -> None:
    # The threads of the engine are not in the child; to touch it, or even to free it, hangs.
    global _lock, _started_before_fork
    _lock = threading.Lock()
    _started_before_fork = _started_before_fork or bool(_engines)
    for server in _servers:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))
    if _engines:
        _leave_without_destructors()
    _servers.clear()
    _engines.clear()


def _leave_without_destructors() -> None:
    # The engine's C++ destructors wait for those threads at exit. `on_exit` hands the status to
    # `_exit`, before them and after Python's own clean-up; only glibc has it.
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
