"""What a live page is told of results that are still arriving."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from classify.adapters.report import live_results
from classify.adapters.report.live_results import LiveResults
from classify.errors import InvalidInput
from tests.adapters.report.live_files import append, labels, line, record


def read(live: LiveResults) -> None:
    """Read all there is."""
    while live.step():
        pass


def ids(news: Mapping[str, object]) -> list[str]:
    """Return the ids of the rows that are told of."""
    return cast("dict[str, list[str]]", news["columns"])["ids"]


def questions(news: Mapping[str, object]) -> list[str]:
    """Return the names of the questions that are told of."""
    overview = cast("dict[str, list[dict[str, str]]]", news["overview"])
    return [question["id"] for question in overview["questions"]]


def test_a_page_is_told_only_of_rows_that_it_has_not(tmp_path: Path) -> None:
    """And of half a line not at all."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 3, torn=True)
    live = LiveResults(path)
    read(live)

    first = live.news("", 0, "")
    append_rest = line(3)[40:] + line(4)
    with path.open("ab") as file:
        file.write(append_rest)
    read(live)
    more = live.news(str(first["generation"]), 3, str(first["version"]))
    same = live.news(str(more["generation"]), 5, str(more["version"]))

    assert ["r0", "r1", "r2"] == ids(first)
    assert ["r3", "r4"] == ids(more)
    assert ([], None) == (ids(same), same["overview"])
    assert first["generation"] == more["generation"]


def test_many_rows_come_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page asks again for the next."""
    monkeypatch.setattr(live_results, "SLICE", 4)
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 10)
    live = LiveResults(path)
    read(live)

    own, found = "", list[str]()
    for _ in range(3):
        news = live.news(own, len(found), "")
        own, found = str(news["generation"]), [*found, *ids(news)]

    assert [f"r{row}" for row in range(10)] == found


def test_a_file_begun_anew_is_another_generation_from_its_first_row(tmp_path: Path) -> None:
    """Details of the rows before are no longer given."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 5)
    live = LiveResults(path)
    read(live)
    before = str(live.news("", 0, "")["generation"])
    assert live.detail(before, 1) is not None

    path.write_bytes(line(7))
    read(live)
    news = live.news(before, 5, "")

    assert before != news["generation"]
    assert (0, ["r7"]) == (news["start"], ids(news))
    assert live.detail(before, 1) is None


def test_a_record_that_comes_later_gives_the_questions_their_words(tmp_path: Path) -> None:
    """And where there is none, they are those that the answers show."""
    path = tmp_path / "out.jsonl"
    live = LiveResults(path)
    read(live)
    waiting = live.news("", 0, "")
    append(path, 0, 1)
    read(live)
    shown = live.news("", 0, "")
    record(path)
    read(live)

    assert ("waiting", []) == (waiting["state"], questions(waiting))
    assert ["urgent"] == questions(shown)
    assert "Is it?" in str(live.news("", 0, "")["overview"])
    assert ["r0"] == ids(live.news("", 0, ""))


def test_another_run_with_other_questions_takes_over(tmp_path: Path) -> None:
    """As with --overwrite: the record is written before the first row."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 3)
    live = LiveResults(path)
    read(live)

    path.write_bytes(b"")
    record(path, "polite")
    path.write_bytes(line(0, question="polite"))
    read(live)
    news = live.news("", 0, "")

    assert (["polite"], ["r0"]) == (questions(news), ids(news))
    assert [] == news["problems"]


@pytest.mark.parametrize(
    ("held", "state"),
    [pytest.param(True, "running", id="held"), pytest.param(False, "ended", id="not")],
)
def test_a_run_is_told_by_its_hold_on_the_file(tmp_path: Path, held: bool, state: str) -> None:
    """Whatever the file holds."""
    path = tmp_path / "out.jsonl"
    append(path, 0, 1)
    if held:
        (tmp_path / "out.jsonl.lock").touch()
    live = LiveResults(path)
    read(live)

    assert state == live.news("", 0, "")["state"]


def test_lines_that_cannot_be_read_are_counted_and_the_others_shown(tmp_path: Path) -> None:
    """One damaged line does not end the page."""
    path = tmp_path / "out.jsonl"
    record(path)
    path.write_bytes(line(0) + b"{]\n" + line(1))
    live = LiveResults(path)
    read(live)
    news = live.news("", 0, "")

    assert ["r0", "r1"] == ids(news)
    assert ["1 lines could not be read and are not shown."] == news["problems"]
    detail = live.detail(str(news["generation"]), 1)
    assert isinstance(detail, dict) and 1 == detail["index"]


def test_labels_of_rows_that_have_not_arrived_do_no_harm(tmp_path: Path) -> None:
    """They count once their rows are there."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 2)
    given = labels(tmp_path / "labels.jsonl", r0=False, r1=True, r9=True)
    live = LiveResults(path, labels=given)
    read(live)

    overview = cast("dict[str, list[dict[str, object]]]", live.news("", 0, "")["overview"])

    assert overview["questions"][0]["measured"] is not None


def test_labels_that_cannot_be_used_are_refused_at_once(tmp_path: Path) -> None:
    """Not in the middle of the run."""
    path = tmp_path / "out.jsonl"
    record(path)
    bad = tmp_path / "labels.jsonl"
    bad.write_text('{"id": "r0", "urgent": "maybe"}\n')

    with pytest.raises(InvalidInput, match="'urgent' is 'maybe', which is none of true, false"):
        LiveResults(path, labels=str(bad))


def test_labels_that_another_run_makes_unusable_leave_what_is_shown(tmp_path: Path) -> None:
    """The reader is told; the rows of before stay whole."""
    path = tmp_path / "out.jsonl"
    record(path)
    append(path, 0, 2)
    live = LiveResults(path, labels=labels(tmp_path / "labels.jsonl", r0=False))
    read(live)

    record(path, "polite")
    for _ in range(2):
        with pytest.raises(InvalidInput, match="labels nothing"):
            live.step()

    news = live.news("", 0, "")
    assert (["urgent"], ["r0", "r1"]) == (questions(news), ids(news))
