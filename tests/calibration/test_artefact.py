"""Artefacts: used where they hold, refused elsewhere, and whole or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints
from classify.calibration.artefact import (
    CalibrationArtefact,
    Fingerprint,
    digest,
    make_artefact,
)
from classify.calibration.artefact_file import load_artefacts, save_artefacts
from classify.calibration.auto import calibrate
from classify.calibration.calibrators import identity
from classify.calibration.held_out_answers import HeldOutAnswers, HeldOutMetric
from classify.classifier import Classifier
from classify.errors import CalibrationError, InvalidInput
from classify.questions import Boolean
from classify.testing import ScriptedModel

SILENT = ScriptedModel(lambda request: {})
FINGERPRINT = Fingerprint(
    question='{"instructions":"Which mood?"}',
    options=("glad", "sad"),
    model="local/small",
    readout="words",
    orders=1,
    prompt_template="1",
    library="0.1.0",
)


def rows() -> tuple[Floats, Ints]:
    """Return answers three times too sharp, with labels."""
    random = np.random.default_rng(1)
    odds = random.normal(0.0, 1.3, 300)
    y = (random.random(300) > 1.0 / (1.0 + np.exp(-odds))).astype(np.int64)
    return np.stack([3.0 * odds, np.zeros(300)], axis=1), y


@pytest.fixture(scope="module")
def artefact() -> CalibrationArtefact:
    """Return an artefact as a run would make it."""
    metrics = (
        HeldOutMetric(
            name="Brier",
            before=0.2,
            after=0.05,
            rules=("sum, 0..2", "sum, 0..2"),
            n=300,
            intervals=((0.1, 0.3), None),
        ),
    )
    created = datetime(2026, 11, 30, tzinfo=UTC)
    return make_artefact(calibrate(*rows()), FINGERPRINT, metrics=metrics, created=created)


def test_an_artefact_calibrates_the_answers_it_was_made_for(
    artefact: CalibrationArtefact,
) -> None:
    """Nothing was overlooked, and the result says so."""
    log_p, _ = rows()

    applied = artefact.apply(log_p, FINGERPRINT)

    np.testing.assert_array_equal(applied.log_p, artefact.calibrator.apply(log_p))
    assert applied.accepted == ()
    assert applied.fingerprint == FINGERPRINT.digest


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("question", "another"),
        ("options", ("sad", "glad")),
        ("model", "local/other"),
        ("readout", "letters"),
        ("orders", 2),
        ("prompt_template", "2"),
        ("library", "0.2.0"),
    ],
)
def test_answers_made_otherwise_are_refused(
    artefact: CalibrationArtefact, part: str, value: object
) -> None:
    """The message names the part, both values and the way out."""
    other = FINGERPRINT.model_copy(update={part: value})

    with pytest.raises(CalibrationError, match=rf"\({part}: fitted on .*accepting\('{part}'\)"):
        artefact.apply(rows()[0], other)

    assert other.digest != FINGERPRINT.digest


def test_an_accepted_difference_is_recorded(artefact: CalibrationArtefact) -> None:
    """Only what differs and was accepted is named."""
    other = FINGERPRINT.model_copy(update={"library": "0.2.0"})

    applied = artefact.apply(rows()[0], other, accept=["model", "library"])

    assert applied.accepted == ("library",)


def test_accepting_one_part_does_not_accept_another(artefact: CalibrationArtefact) -> None:
    """A new model under a new library is still refused."""
    other = FINGERPRINT.model_copy(update={"library": "0.2.0", "model": "x"})

    with pytest.raises(CalibrationError, match=r"\(model: fitted on") as refused:
        artefact.apply(rows()[0], other, accept=["library"])

    assert "library: fitted" not in str(refused.value)


def test_a_part_that_does_not_exist_cannot_be_accepted(artefact: CalibrationArtefact) -> None:
    """A misspelt part would accept nothing, silently."""
    with pytest.raises(CalibrationError, match="accept names"):
        artefact.apply(rows()[0], FINGERPRINT, accept=["modell"])


def test_held_out_metrics_without_rules_are_still_read() -> None:
    """Older files have a name and two numbers."""
    old = HeldOutMetric.model_validate_json('{"name": "Brier", "before": 0.2, "after": 0.1}')

    assert (old.before, old.after) == (0.2, 0.1)
    assert (old.rules, old.n, old.intervals) == (("", ""), None, (None, None))


def test_a_changed_copy_has_a_digest_of_its_own(artefact: CalibrationArtefact) -> None:
    """Policies are bound to digests: one must not pass for another's."""
    before = artefact.digest

    other = artefact.model_copy(update={"calibrator": identity(2)})

    assert other.digest != before
    assert artefact.accepting("model").digest == before


def test_options_that_do_not_fit_the_calibrator_are_refused() -> None:
    """A calibrator of two options is none of a question of three."""
    three = FINGERPRINT.model_copy(update={"options": ("a", "b", "c")})

    with pytest.raises(CalibrationError, match="names 3 options"):
        make_artefact(calibrate(*rows()), three)


def test_a_file_gives_back_the_same_artefacts(
    artefact: CalibrationArtefact, tmp_path: Path
) -> None:
    """One file may hold the calibrators of several questions; answers agree bit for bit."""
    other = artefact.model_copy(update={"metrics": ()})
    path = tmp_path / "mood.json"

    save_artefacts(path, [artefact, other])
    read = load_artefacts(path)

    assert read == (artefact, other)
    np.testing.assert_array_equal(
        read[0].apply(rows()[0], FINGERPRINT).log_p, artefact.apply(rows()[0], FINGERPRINT).log_p
    )
    assert [file.name for file in tmp_path.iterdir()] == ["mood.json"]


# Any: what a damaged file holds.
def edited(path: Path, artefact: CalibrationArtefact, **changes: Any) -> Path:
    """Write an artefact's file with some of its parts exchanged."""
    save_artefacts(path, [artefact])
    body = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(body | changes), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "is not a calibration artefact"),
        ({"version": 2}, "has the version 2 and this library reads 1"),
        ({"artefacts": []}, "changed or damaged"),
        ({"sha256": "0"}, "changed or damaged"),
    ],
    ids=["foreign", "later", "cut", "checksum"],
)
def test_a_damaged_or_foreign_file_is_refused(
    artefact: CalibrationArtefact, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """The message says what is wrong with which file."""
    path = edited(tmp_path / "a.json", artefact, **changes)

    with pytest.raises(CalibrationError, match=message):
        load_artefacts(path)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("report", "log_loss_before", float("nan")),
        ("report", "log_loss_after", -0.1),
        ("report", "k", 9),
        ("report", "k", 0),
        ("report", "label_counts", [150, -1]),
        ("report", "label_counts", [150, 151]),
        ("report", "items", 301),
        ("report", "folds", -1),
        ("report", "floor", float("inf")),
        ("report", "requested", "magic"),
        ("report", "chosen", "auto!"),
        ("report", "candidates", [{"method": "magic", "log_loss": 1, "gain": 1, "gain_error": 1}]),
        ("report", "candidates", [{"method": "beta", "log_loss": 1, "gain": 1, "gain_error": -1}]),
        ("held_out", "confidence", [7.0]),
        ("held_out", "confidence", [-0.1]),
        ("held_out", "confidence", [float("nan")]),
    ],
)
def test_numbers_that_no_calibration_gives_are_refused_in_a_file(
    artefact: CalibrationArtefact, tmp_path: Path, part: str, field: str, value: object
) -> None:
    """Also where the checksum is right: what is read is what reports and thresholds can mean."""
    path = tmp_path / "a.json"
    held_out = HeldOutAnswers(confidence=(0.9,), wrong=(False,))
    save_artefacts(path, [artefact.model_copy(update={"held_out": held_out})])
    body = json.loads(path.read_text(encoding="utf-8"))
    body["artefacts"][0][part][field] = value
    body["sha256"] = digest(body["artefacts"])
    path.write_text(json.dumps(body), encoding="utf-8")

    with pytest.raises(CalibrationError, match=rf"does not hold artefacts: artefacts\[0\]\.{part}"):
        load_artefacts(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"accepts": ["zz"]}, r"accepts: accept names \['zz'\]"),
        ({"k": 9, "label_counts": [1] * 9}, "the report is of 9 options and .* fitted on 2"),
    ],
    ids=["accepted part", "options of the report"],
)
def test_facts_that_do_not_belong_to_the_calibrator_are_refused_in_a_file(
    artefact: CalibrationArtefact, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """Each is possible by itself, with the right checksum too."""
    path = tmp_path / "a.json"
    save_artefacts(path, [artefact])
    body = json.loads(path.read_text(encoding="utf-8"))
    whole = body["artefacts"][0]
    (whole if "accepts" in changes else whole["report"]).update(changes)
    body["sha256"] = digest(body["artefacts"])
    path.write_text(json.dumps(body), encoding="utf-8")

    with pytest.raises(CalibrationError, match=message):
        load_artefacts(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", "holds a JSON list"), ("{}", "its format is None")],
    ids=["half", "list", "empty"],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Whatever lies at the path."""
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CalibrationError, match=message):
        load_artefacts(path)


def test_a_missing_file_is_one_of_our_errors(tmp_path: Path) -> None:
    """It names the path."""
    with pytest.raises(CalibrationError, match=r"none\.json' cannot be read"):
        load_artefacts(tmp_path / "none.json")


def test_nothing_to_save_is_refused(tmp_path: Path) -> None:
    """An empty file would calibrate nothing, later."""
    with pytest.raises(CalibrationError, match="no artefact to save"):
        save_artefacts(tmp_path / "a.json", [])


def test_a_classifier_refuses_a_calibrator_without_its_artefact(
    artefact: CalibrationArtefact,
) -> None:
    """It would be applied to whatever answers come: only the artefact knows which it is for."""
    bare: Any = artefact.calibrator

    with pytest.raises(InvalidInput, match=r"calibrators\['q'\] is of type .*make_artefact"):
        Classifier("c", SILENT, {"q": Boolean()}, calibrators={"q": bare})
