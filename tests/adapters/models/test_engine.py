"""What the engine needs is checked before it is loaded: it would crash without a word."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from classify.adapters.models.engine import check_processor
from classify.errors import CapabilityError

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"),
    reason="only the engine's wheels for x86 need a recent processor",
)


def test_a_processor_that_is_too_old_is_refused_by_name(tmp_path: Path) -> None:
    """The engine's code would end the process with SIGILL."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c fma\n")

    with pytest.raises(CapabilityError, match="lacks avx2, bmi2, which the embedded engine needs"):
        check_processor(cpuinfo)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("flags\t: avx avx2 bmi1 bmi2 f16c fma\n", id="all it needs"),
        pytest.param("Hardware\t: unknown\n", id="no flags told"),
    ],
)
def test_a_processor_that_may_do_is_not_refused(text: str, tmp_path: Path) -> None:
    """A check that is in doubt must not take the model away."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(text)

    check_processor(cpuinfo)


def test_a_system_that_tells_nothing_is_not_refused(tmp_path: Path) -> None:
    """Only Linux has this file."""
    check_processor(tmp_path / "missing")
