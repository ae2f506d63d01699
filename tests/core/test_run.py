"""Running rows: what is asked, what is kept, and what a second run repeats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.answers import BooleanAnswer
from classify.calibrating import Origin
from classify.classifier import Classifier
from classify.decision import DecisionRequest, DecisionResponse
from classify.errors import CalibrationError, InvalidInput, ProviderError
from classify.logspace import Floats
from classify.questions import Boolean, Question
from classify.results import Result, read_results
from classify.rows import BadRow, Row
from classify.run import RunCounts, RunSettings, run
from classify.store import Existing, Store
from classify.testing.scripted import ScriptedModel

QUESTIONS: Mapping[str, Question] = {"q": Boolean()}


def _rows(*texts: str | None) -> list[Row | BadRow]:
    """Return a row per text, a bad one for None."""
    return [
        BadRow(index, f"line {index + 1}", "broken")
        if text is None
        else Row(index, f"line {index + 1}", f"r{index}", text)
        for index, text in enumerate(texts)
    ]


def _answer(request: DecisionRequest) -> Mapping[str, Mapping[str, object]]:
    text = str(request.state)
    if text.startswith("fail"):
        raise ProviderError("refused", status=400)
    return {"q": {"type": "boolean", "probability": len(text) / 100}}


def _counting(*failing: int) -> ScriptedModel:
    """Return a model that answers .01, .02 and so on, whatever it is asked; some calls fail."""

    def answer(request: DecisionRequest) -> Mapping[str, Mapping[str, object]]:
        number = len(model.requests)
        if number in failing:
            raise ProviderError("refused", status=400)
        return {"q": {"type": "boolean", "probability": number / 100}}

    model = ScriptedModel(answer)
    return model


class _Bench:
    """A results file and a model that counts what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "r.jsonl"
        self.model = ScriptedModel(_answer)
        self.seen: list[int] = []

    def run(
        self,
        rows: list[Row | BadRow],
        *,
        existing: Existing = "resume",
        settings: RunSettings | None = None,
        questions: Mapping[str, Question] = QUESTIONS,
        prepare: Callable[[asyncio.Event], None] = lambda stop: None,
    ) -> RunCounts:
        async def running() -> RunCounts:
            stop = asyncio.Event()
            prepare(stop)
            classifier = Classifier("c", self.model, questions)
            with Store(self.path, existing=existing) as store:
                return await run(
                    classifier,
                    rows,
                    store,
                    settings,
                    progress=lambda counts: self.seen.append(counts.rows),
                    stop=stop,
                )

        return asyncio.run(running())

    def results(self) -> list[Result]:
        return list(read_results(self.path))

    def asked(self) -> list[object]:
        return [request.state for request in self.model.requests]


def _probabilities(bench: _Bench) -> list[float | None]:
    return [
        result.answers["q"].model_dump()["probability"] if result.answers else None
        for result in bench.results()
    ]


@pytest.fixture
def bench(tmp_path: Path) -> _Bench:
    """Make a fresh results file and a fresh model."""
    return _Bench(tmp_path)


def test_every_row_gets_its_line_in_input_order(bench: _Bench) -> None:
    """Answers, failures and rows that could not be read, each in its place."""
    counts = bench.run(_rows("a", None, "fail", "bb"))

    assert (4, 2, 1, 1) == (counts.rows, counts.answered, counts.failed, counts.bad)
    results = bench.results()
    assert [0, 1, 2, 3] == [result.index for result in results]
    assert [None, "BadRow", "ProviderError", None] == [r.error and r.error.type for r in results]
    assert "line 2: broken" == (results[1].error and results[1].error.message)
    assert [False, True, True, False] == [result.seconds is None for result in results]
    assert [1, 2, 3, 4] == bench.seen


def test_resuming_repeats_nothing_and_retries_failures(bench: _Bench) -> None:
    """Only the failed row and the new one are asked."""
    bench.run(_rows("a", "fail", "bb"))
    bench.model.requests.clear()

    counts = bench.run(_rows("a", "fail", "bb", "ccc"))

    assert ["fail", "ccc"] == bench.asked()
    assert (2, 1) == (counts.reused, counts.retried)
    assert [0, 1, 2, 3] == [result.index for result in bench.results()]


def test_a_complete_run_resumed_changes_no_byte(bench: _Bench) -> None:
    """Nothing is asked, and the file is what it was."""
    bench.run(_rows("a", "bb"))
    before = bench.path.read_bytes()

    counts = bench.run(_rows("a", "bb"))

    assert 2 == counts.reused == len(bench.model.requests)
    assert before == bench.path.read_bytes()


@hypothesis.settings(max_examples=25, deadline=None)
@given(st.integers(0, 5), st.floats(0.0, 1.0), st.sets(st.integers(0, 5)))
def test_a_file_cut_anywhere_is_completed_by_asking_for_what_is_missing(
    rows_before: int, cut: float, failing: set[int]
) -> None:
    """Whatever byte a crash ends at, no whole answered line is asked for again."""
    rows = _rows(*(f"fail {n}" if n in failing else f"row {n}" for n in range(6)))
    with TemporaryDirectory() as folder:
        bench = _Bench(Path(folder))
        bench.run(rows[:rows_before])
        content = bench.path.read_bytes()
        kept = content[: round(cut * len(content))]
        bench.path.write_bytes(kept)
        answered = {n for n in range(kept.count(b"\n")) if n not in failing}
        bench.model.requests.clear()

        bench.run(rows)

        missing = [row for n, row in enumerate(rows) if n not in answered]
        assert [row.state for row in missing if isinstance(row, Row)] == bench.asked()
        assert list(range(6)) == [result.index for result in bench.results()]


def test_other_questions_never_reuse_old_answers(bench: _Bench) -> None:
    """The old answers are put aside, not deleted and not passed off as new ones."""
    bench.run(_rows("a", "bb"))
    old = bench.path.read_bytes()

    counts = bench.run(_rows("a", "bb"), questions={"q": Boolean(instructions="Really?")})

    assert (0, 2, 2) == (counts.reused, counts.answered, counts.unused)
    assert old == bench.path.with_name("r.jsonl.unused").read_bytes()


def test_a_stopped_run_leaves_no_answers_to_another_question_among_its_own(bench: _Bench) -> None:
    """Whoever reads the file would count them; back with the first question all are found again."""
    rows = _rows("a", "bb", "ccc", "fail")
    bench.run(rows)
    bad = [*_rows("a"), BadRow(1, "line 2", "broken"), *rows[2:]]

    counts = bench.run(
        bad, settings=RunSettings(strict=True), questions={"q": Boolean(instructions="other")}
    )

    assert (1, 1, 3) == (counts.answered, counts.bad, counts.unused)
    assert {"r0", "line 2"} == {result.id for result in bench.results()}
    assert 3 == len(list(read_results(bench.path.with_name("r.jsonl.unused"))))
    counts = bench.run(rows)
    assert (3, 0, 1) == (counts.reused, counts.answered, counts.failed)


def test_a_changed_state_is_asked_and_a_changed_label_is_not(bench: _Bench) -> None:
    """What a person says about a row does not change what the model says."""
    bench.run([Row(0, "line 1", "a", "x"), Row(1, "line 2", "b", "y")])
    bench.model.requests.clear()

    bench.run([Row(0, "line 1", "a", "x", {"q": True}), Row(1, "line 2", "b", "z")])

    assert ["z"] == bench.asked()
    first, second = bench.results()
    assert {"q": True} == first.labels
    assert "z" == second.state


def test_rows_that_moved_or_got_other_ids_keep_their_answers(bench: _Bench) -> None:
    """The file follows the input of the last run; one answer serves one row."""
    bench.run(_rows("a", "bb", "ccc"))

    bench.run(_rows("ccc", "new", "a", "ccc"))

    assert ["a", "bb", "ccc", "new", "ccc"] == bench.asked()
    assert ["ccc", "new", "a", "ccc"] == [result.state for result in bench.results()]
    assert [0.03, 0.03, 0.01, 0.03] == _probabilities(bench)


def test_rows_of_one_state_keep_the_answers_they_were_asked_for(bench: _Bench) -> None:
    """Repeats show how a model varies; to resume once gave all of them the last one's answer."""
    bench.model = _counting()
    bench.run(_rows("a", "a", "bb"), settings=RunSettings(concurrency=1))
    before = bench.path.read_bytes()
    bench.model = ScriptedModel(_answer)

    counts = bench.run(_rows("a", "a", "bb"))

    assert (3, 0) == (counts.reused, counts.unused)
    assert [] == bench.asked()
    assert before == bench.path.read_bytes()


@pytest.mark.parametrize("failing", [(2,), (1, 5), (6,)], ids=str)
def test_a_failed_row_is_asked_again_whoever_has_its_state(
    bench: _Bench, failing: tuple[int, ...]
) -> None:
    """It took the next row's answer once, that row the next one's, and nothing was asked."""
    bench.model = _counting(*failing)
    bench.run(_rows(*"aaaaaa"), settings=RunSettings(concurrency=1))
    before = _probabilities(bench)

    counts = bench.run(_rows(*"aaaaaa"), settings=RunSettings(concurrency=1))

    again = iter([0.07, 0.08])
    assert [next(again) if p is None else p for p in before] == _probabilities(bench)
    assert (6 - len(failing), len(failing)) == (counts.reused, counts.retried)
    assert (len(failing), 0) == (counts.answered, counts.unused)


@pytest.mark.parametrize("ids", ["own", "of the state"])
def test_a_row_that_was_never_asked_is_asked_whoever_has_its_state(bench: _Bench, ids: str) -> None:
    """A copy of another row's answer is no second opinion."""
    rows = _rows(*"aaaaaa")
    if ids != "own":
        rows = [replace(row, id="a") if isinstance(row, Row) else row for row in rows]
    bench.model = _counting()
    bench.run(rows[:3], settings=RunSettings(concurrency=1))

    counts = bench.run(rows, settings=RunSettings(concurrency=1))

    assert [0.01, 0.02, 0.03, 0.04, 0.05, 0.06] == _probabilities(bench)
    assert (3, 3, 0) == (counts.reused, counts.answered, counts.retried)


def test_a_row_takes_no_answer_that_a_later_row_was_given(bench: _Bench) -> None:
    """Whatever order the input has, each row that the file knows keeps its own."""
    rows = _rows(*"aaa")
    bench.model = _counting()
    bench.run(rows[1:], settings=RunSettings(concurrency=1))

    bench.run(rows, settings=RunSettings(concurrency=1))

    assert [0.03, 0.01, 0.02] == _probabilities(bench)


def test_answers_that_fewer_rows_ask_for_are_put_aside(bench: _Bench) -> None:
    """And found again once there are as many rows as before."""
    bench.run(_rows("a", "a"), settings=RunSettings(concurrency=1))
    before = bench.path.read_bytes()

    assert 1 == bench.run(_rows("a")).unused
    assert 0 == bench.run(_rows("a", "a")).unused

    assert before == bench.path.read_bytes()


def test_a_strict_run_stops_at_a_bad_row_and_can_go_on(bench: _Bench) -> None:
    """What was asked before it is kept."""
    rows = _rows("a", None, "bb")

    counts = bench.run(rows, settings=RunSettings(strict=True))

    assert "line 2: broken" == counts.stopped_by
    assert ["a"] == bench.asked()
    bench.run(_rows("a", "mended", "bb"))
    assert ["a", "mended", "bb"] == bench.asked()
    assert 3 == len(bench.results())


def test_a_stopped_run_begins_no_row_and_keeps_what_ends(bench: _Bench) -> None:
    """Rows in flight may end; the next run asks for the rest and for nothing twice."""
    texts = [f"row {n}" for n in range(40)]
    holder: list[asyncio.Event] = []

    def answer(request: DecisionRequest) -> Mapping[str, Mapping[str, object]]:
        if request.state == "row 5":
            holder[0].set()
        return _answer(request)

    bench.model = ScriptedModel(answer)
    counts = bench.run(
        _rows(*texts), settings=RunSettings(concurrency=2), prepare=lambda stop: holder.append(stop)
    )
    stopped_at = len(bench.model.requests)

    assert counts.interrupted
    assert stopped_at == len(bench.results()) < 40
    bench.run(_rows(*texts), prepare=lambda stop: holder.__setitem__(0, stop))
    assert texts == bench.asked()
    assert texts == [result.state for result in bench.results()]


def test_a_run_cut_off_behind_a_slow_row_repeats_only_that_row(tmp_path: Path) -> None:
    """Answers are in the file as soon as they are there, whatever comes before them."""
    path, texts = tmp_path / "r.jsonl", [f"row {n}" for n in range(40)]

    class FirstStuck(ScriptedModel):
        async def decide(self, request: DecisionRequest) -> DecisionResponse:
            if request.state == "row 0" and not path.with_name("released").exists():
                await asyncio.Event().wait()
            return await super().decide(request)

    model = FirstStuck(_answer)

    async def running(*, cut_at: int) -> None:
        cut = asyncio.Event()

        def progress(counts: RunCounts) -> None:
            if counts.rows == cut_at:
                cut.set()

        with Store(path, existing="resume") as store:
            task = asyncio.create_task(
                run(Classifier("c", model, QUESTIONS), _rows(*texts), store, progress=progress)
            )
            await cut.wait()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(running(cut_at=39))
    assert set(texts[1:]) == {str(result.state) for result in read_results(path)}
    path.with_name("released").touch()
    model.requests.clear()

    asyncio.run(running(cut_at=40))

    assert ["row 0"] == [request.state for request in model.requests]
    assert set(texts) == {str(result.state) for result in read_results(path)}


def test_states_can_be_left_out_and_put_back(bench: _Bench) -> None:
    """Neither way is anything asked again."""
    bench.run(_rows("a"), settings=RunSettings(with_state=False))
    assert not bench.results()[0].has_state

    bench.run(_rows("a"))

    assert 1 == len(bench.model.requests)
    assert "a" == bench.results()[0].state


def test_repeated_ids_are_counted(bench: _Bench) -> None:
    """Results keep rows apart by index; people may not."""
    rows: list[Row | BadRow] = [Row(n, f"line {n + 1}", "same", f"x{n}") for n in range(3)]

    assert 2 == bench.run(rows).repeated_ids


def test_a_batch_prior_is_divided_out_at_the_end_and_again_on_resume(tmp_path: Path) -> None:
    """Corrected answers keep the raw ones, so that more rows correct all of them anew."""
    path, model = tmp_path / "r.jsonl", ScriptedModel(_answer)

    def classify(count: int) -> list[Result]:
        async def running() -> None:
            classifier = Classifier("c", model, QUESTIONS, prior="batch")
            with Store(path, existing="resume") as store:
                await run(classifier, _rows(*("x" * (n + 1) for n in range(count))), store)

        asyncio.run(running())
        return list(read_results(path))

    first, second = classify(32), classify(40)

    assert 40 == len(model.requests) == len(second)
    for n, result in enumerate(second):
        assert result.answers["q"].model_dump()["raw_probabilities"]["true"] == pytest.approx(
            (n + 1) / 100
        )
    assert first[0].answers != second[0].answers


class _OfOneModel:
    """A calibrator that was fitted on the answers of one model, and leaves them as they are."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.readouts = set[str]()

    def __repr__(self) -> str:
        return f"of {self.model}"

    def calibrated(self, log_p: Floats, origin: Origin) -> tuple[Floats, str]:
        self.readouts.add(origin.readout)
        if origin.model != self.model:
            raise CalibrationError(f"fitted on {self.model}, not on {origin.model}")
        return log_p, "digest"


def _by_model(request: DecisionRequest) -> Mapping[str, Mapping[str, object]]:
    """Answer .4, as the model that the state's first word names."""
    model, *_ = str(request.state).split()
    return {"q": {"type": "boolean", "probability": 0.4, "evidence": {"reported_model": model}}}


@pytest.mark.parametrize("existing", ["error", "resume"])
def test_a_calibrator_of_other_answers_is_refused_before_a_batch_is_paid_for(
    tmp_path: Path, existing: Existing
) -> None:
    """Once all are there to be corrected, none of them would be calibrated."""
    bench, calibrator = _Bench(tmp_path), _OfOneModel("old")
    bench.model = ScriptedModel(_by_model)
    classifier = Classifier(
        "c", bench.model, QUESTIONS, prior="batch", calibrators={"q": calibrator}
    )

    async def running() -> None:
        with Store(bench.path, existing=existing) as store:
            rows = _rows(*(f"new {n}" for n in range(100)))
            await run(classifier, rows, store, RunSettings(concurrency=1))

    with pytest.raises(CalibrationError, match="fitted on old, not on new"):
        asyncio.run(running())
    assert len(bench.asked()) <= 3
    assert calibrator.readouts == {"decision+batch"}


def test_answers_of_a_batch_that_a_calibrator_refuses_are_errors_and_asked_again(
    tmp_path: Path,
) -> None:
    """One row of another model kept all others from being corrected."""
    bench = _Bench(tmp_path)
    bench.model = ScriptedModel(_by_model)
    classifier = Classifier(
        "c", bench.model, QUESTIONS, prior="batch", calibrators={"q": _OfOneModel("old")}
    )
    rows = _rows(*(f"old {n}" for n in range(20)), "new", *(f"old {n}" for n in range(20, 40)))

    async def running() -> RunCounts:
        with Store(bench.path, existing="resume") as store:
            return await run(classifier, rows, store)

    for asked in (41, 1):
        assert asyncio.run(running()).answered == asked
        results = bench.results()
        refused = results.pop(20)
        assert refused.error is not None and refused.error.type == "CalibrationError"
        assert (refused.answers, refused.attempts) == ({}, 1)
        for result in results:
            found = result.answers["q"]
            assert isinstance(found, BooleanAnswer) and found.evidence is not None
            assert found.probability == pytest.approx(0.5)
            assert found.evidence.calibrator == "digest"


def test_too_few_rows_for_a_batch_prior_lose_no_answer(tmp_path: Path) -> None:
    """The error says how many are needed; the answers stand uncorrected."""
    path = tmp_path / "r.jsonl"

    async def running() -> None:
        classifier = Classifier("c", ScriptedModel(_answer), QUESTIONS, prior="batch")
        with Store(path) as store:
            await run(classifier, _rows("a", "bb"), store)

    with pytest.raises(InvalidInput, match="at least 32 answers"):
        asyncio.run(running())
    assert 2 == len(list(read_results(path)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param(RunSettings(concurrency=0), "concurrency", id="concurrency"),
        pytest.param(RunSettings(max_retries=-1), "max_retries", id="retries"),
    ],
)
def test_unusable_settings_are_refused(bench: _Bench, settings: RunSettings, message: str) -> None:
    """Before anything is asked."""
    with pytest.raises(InvalidInput, match=message):
        bench.run(_rows("a"), settings=settings)


class _Unsaid:
    """A model of a user's own that does not say what tells it from others."""

    provider, model_id, supported_question_types = "own", "own", None

    def __init__(self) -> None:
        self.asked: list[object] = []

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        self.asked.append(request.state)
        return DecisionResponse(_answer(request))


def _resumed(path: Path, classifier: Classifier, *texts: str) -> RunCounts:
    with Store(path, existing="resume") as store:
        return asyncio.run(run(classifier, _rows(*texts), store))


def test_a_run_that_cannot_be_resumed_says_so_before_it_asks_anything(tmp_path: Path) -> None:
    """Every row was asked again, without a word; the answers stay as they are."""
    path, model = tmp_path / "r.jsonl", _Unsaid()
    _resumed(path, Classifier("c", model, QUESTIONS), "a", "b")
    before = path.read_bytes()

    with pytest.raises(InvalidInput, match=r"cannot be resumed.* has no `settings`.*--overwrite"):
        _resumed(path, Classifier("c", model, QUESTIONS), "a", "b", "c")

    assert model.asked == ["a", "b"]
    assert path.read_bytes() == before


class _Client:
    """Something that nobody can know again."""


class _Kept:
    """A calibrator of a user's own without a text of its own."""

    def calibrated(self, log_p: Floats, origin: Origin) -> tuple[Floats, str]:
        return log_p, "kept"


def _noted(response: DecisionResponse, held: object) -> DecisionResponse:
    return replace(response, warnings=(f"{held}",))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"transform": partial(_noted, held=_Client())}, "the transform .* got _Client; make it"),
        ({"calibrators": {"q": _Kept()}}, r"calibrators\['q'\] cannot .* give _Kept a `__repr__`"),
    ],
    ids=["transform", "calibrator"],
)
def test_what_makes_a_run_unlike_all_others_is_named(
    tmp_path: Path, given: dict[str, Any], problem: str
) -> None:
    """Nothing matched, and all was asked and paid for again."""
    path = tmp_path / "r.jsonl"
    _resumed(path, Classifier("c", ScriptedModel(_answer), QUESTIONS, **given), "a")

    with pytest.raises(InvalidInput, match=problem):
        _resumed(path, Classifier("c", ScriptedModel(_answer), QUESTIONS, **given), "a")


def test_a_run_with_a_partial_as_its_transform_is_resumed(tmp_path: Path) -> None:
    """It is known by its function and its arguments."""
    counts = [
        _resumed(
            tmp_path / "r.jsonl",
            Classifier(
                "c", ScriptedModel(_answer), QUESTIONS, transform=partial(_noted, held=held)
            ),
            "a",
        )
        for held in (1, 1, 2)
    ]

    assert [each.reused for each in counts] == [0, 1, 0]


def test_the_very_classifier_that_was_interrupted_is_resumed(tmp_path: Path) -> None:
    """It is known by itself, whatever its model says."""
    path, model = tmp_path / "r.jsonl", _Unsaid()
    classifier = Classifier("c", model, QUESTIONS)
    _resumed(path, classifier, "a")

    counts = _resumed(path, classifier, "a", "b")

    assert (counts.reused, counts.answered, model.asked) == (1, 1, ["a", "b"])
