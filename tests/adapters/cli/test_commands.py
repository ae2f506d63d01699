"""The commands that run nothing over rows: show, validate, schema, init, models."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from classify.adapters.cli.starter import STARTER
from classify.spec import load_spec
from classify.spec_schema import spec_schema
from classify.testing import Answer, likely
from classify.version import __version__

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk


def test_show_draws_a_bar_for_every_option_in_80_columns(desk: Desk) -> None:
    """With what the numbers rest on."""
    result = desk.classify("show", desk.spec, "--state", "row-1.")

    assert 0 == result.exit_code, result.stderr
    lines = result.stdout.splitlines()
    assert "topic (choice): delivery" == lines[0]
    assert "77.8 %" in next(line for line in lines if line.startswith("  delivery"))
    assert "label mass 0.9; method logprobs" in result.stdout
    assert all(cell_len(line) <= 80 for line in lines)


def test_show_draws_bounds_as_a_lighter_tail(desk: Desk) -> None:
    """An option that the model did not show has a bound and no measured value."""
    desk.answer = lambda request: Answer(text="A", positions=[likely({"A": 0.6, "x": 0.3})])

    result = desk.classify("show", desk.spec, "--state", "row-1.")

    refund = next(line for line in result.stdout.splitlines() if line.startswith("  refund"))
    assert "░" in refund
    assert " to " in refund


@pytest.mark.parametrize(
    ("option", "content", "state"),
    [
        pytest.param("--state-json", '{"a": [1]}', {"a": [1]}, id="json"),
        pytest.param("--state-file", "plain [bold]text", "plain [bold]text", id="text file"),
    ],
)
def test_the_state_comes_in_three_ways(
    desk: Desk, option: str, content: str, state: object
) -> None:
    """As text, as JSON, or in a file."""
    given = desk.write("state.txt", content) if option == "--state-file" else content

    result = desk.classify("show", desk.spec, option, given, "--json")

    evaluation = json.loads(result.stdout)
    assert "delivery" == evaluation["answers"]["topic"]["choice"]
    sent = json.dumps(desk.server.requests[-1].body)
    assert ("[bold]text" in sent) == (state == "plain [bold]text")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "by one of --state", id="none"),
        pytest.param(["--state", "a", "--state-json", "1"], "by one of --state", id="two"),
        pytest.param(["--state-json", "{secret"], "the state is no JSON", id="no json"),
        pytest.param(["--state-json", "[NaN]"], "NaN is no JSON value", id="nan"),
        pytest.param(["--state-file", "absent.txt"], "No such file", id="no file"),
    ],
)
def test_an_unusable_state_exits_with_2(desk: Desk, arguments: list[str], message: str) -> None:
    """Without its text in the message."""
    result = desk.classify("show", desk.spec, *arguments)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert "secret" not in result.stderr


def test_an_endpoint_that_fails_is_one_message_and_exit_code_1(desk: Desk) -> None:
    """A model that does not answer is no mistake in what was given."""
    desk.answer = lambda request: Answer(status=500, body=b"{}")

    result = desk.classify("show", desk.spec, "--state", "row-1.")

    assert 1 == result.exit_code
    assert "error: " in result.stderr
    assert "Traceback" not in result.stderr


def test_validate_counts_rows_with_nothing_to_judge(desk: Desk) -> None:
    """A model answers about null as about any other text."""
    rows = desk.write("rows.jsonl", '{"text": ""}\n{"text": null}\n{"text": "a"}\n')

    result = desk.classify("validate", desk.spec, rows)

    assert 0 == result.exit_code
    assert "  nothing to judge in 2 (empty or null)" in result.stdout


def test_validate_names_questions_bad_rows_and_labels(desk: Desk) -> None:
    """Before any money is spent."""
    rows = desk.write(
        "rows.jsonl",
        '{"text": "a", "topic": "refund"}\nbroken\n{"text": "a", "topic": "other"}\n',
    )

    result = desk.classify("validate", desk.spec, rows)

    assert 1 == result.exit_code
    assert "topic (choice): refund, delivery" in result.stdout
    assert "rows: 2 good, 1 bad, 1 labels that cannot be read" in result.stdout
    assert "1 rows have the id of an earlier row" in result.stdout
    assert "labels of topic: refund 1" in result.stdout
    assert "line 2: invalid JSON" in result.stderr
    assert [] == desk.server.requests


def test_a_spec_of_scorers_is_sent_to_its_command(desk: Desk) -> None:
    """It was called an unknown field, beside fields that it has."""
    scorers = "scorers: {s: {question: topic}}\n"
    spec = desk.write("score.yaml", Path(desk.spec).read_text("utf-8") + scorers)

    for command in (("validate", spec), ("run", spec, desk.rows, "-o", desk.out)):
        result = desk.classify(*command)

        assert 2 == result.exit_code
        assert "score.yaml: has scorers, so it is a spec of `classify score`" in result.stderr


def test_validate_names_a_provider_that_does_not_exist(desk: Desk) -> None:
    """A misspelt model would only be found once rows are waiting for it."""
    spec = desk.write("typo.yaml", "id: t\nmodel: opnai/x\nquestions: {q: {type: boolean}}\n")

    result = desk.classify("validate", spec)

    assert 2 == result.exit_code
    assert "did you mean 'openai'" in result.stderr


def test_the_starter_spec_validates_and_is_never_written_over(desk: Desk) -> None:
    """It is the first thing that a new user has."""
    path = desk.folder / "new.yaml"

    assert 0 == desk.classify("init", str(path)).exit_code
    assert 0 == desk.classify("validate", str(path)).exit_code
    assert "local" == load_spec(path).model
    again = desk.classify("init", str(path))
    assert 2 == again.exit_code
    assert "exists already" in again.stderr
    assert STARTER == path.read_text()


def test_schema_prints_the_schema(desk: Desk) -> None:
    """For editors."""
    assert spec_schema() == json.loads(desk.classify("schema").stdout)


def test_models_lists_providers_and_never_a_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only whether it is set."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    table, plain = desk.classify("models"), desk.classify("models", "--json")

    assert "OPENAI_API_KEY set" in table.stdout
    found = {row["name"]: row for row in json.loads(plain.stdout)["providers"]}
    assert found["openai"]["key_set"]
    assert "local" in found
    assert "sk-secret" not in table.stdout + plain.stdout


def test_a_model_can_be_probed(desk: Desk) -> None:
    """It says what the endpoint shows."""
    result = desk.classify("models", "probe", "vllm/m", "--json")

    assert 0 == result.exit_code, result.stderr
    assert 100 == json.loads(result.stdout)["alternatives shown at a position"]


def test_only_the_embedded_model_can_be_fetched(desk: Desk) -> None:
    """Others live elsewhere."""
    result = desk.classify("models", "fetch", "gpt")

    assert 2 == result.exit_code
    assert "only the embedded model" in result.stderr


def test_the_version_is_printed(desk: Desk) -> None:
    """As programs ask for it."""
    assert f"classify {__version__}\n" == desk.classify("--version").stdout


def test_help_loads_no_heavy_library() -> None:
    """It must come at once."""
    code = (
        "import sys; from classify.adapters.cli import main; "
        "print([m for m in ('openai', 'scipy', 'tiktoken', 'pandas', 'pyarrow', 'yaml', 'aiohttp')"
        " if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    """`python -m classify` is the same command."""
    done = subprocess.run(
        [sys.executable, "-m", "classify", "--help"], capture_output=True, text=True, check=True
    )

    assert "validate" in done.stdout
