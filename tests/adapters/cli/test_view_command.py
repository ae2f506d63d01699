"""`classify view` as a command: it tells its address, serves, and ends at Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from classify.adapters.cli.main import app


@pytest.mark.skipif(sys.platform == "win32", reason="another process is stopped otherwise there")
def test_the_address_is_printed_the_page_served_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    """Results that are not there yet are waited for."""
    command = [sys.executable, "-m", "classify", "view", str(tmp_path / "later.jsonl")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        with urlopen(address, timeout=30) as answer:
            page = answer.read().decode()
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()

    assert 0 == process.returncode
    assert address.startswith("http://127.0.0.1:")
    assert "<title>later.jsonl</title>" in page
    assert "is not there yet" in told and "stopped" in told
    assert address not in told


def test_a_folder_is_no_results_file(tmp_path: Path) -> None:
    """Nothing is served of it."""
    found = CliRunner().invoke(app, ["view", str(tmp_path)])

    assert 2 == found.exit_code
    assert "are no file" in found.stderr
