"""Choose, out of artefact files, the calibrator of each question a classifier asks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from classify.calibration.artefact import CalibrationArtefact
from classify.calibration.artefact_file import load_artefacts
from classify.calibration.settings import of_type, texts
from classify.errors import CalibrationError, InvalidInput
from classify.labels import canonical
from classify.questions import Question
from classify.validation import unknown_name
from classify.version import __version__


def chosen_calibrators(
    given: Sequence[str],
    questions: Mapping[str, Question],
    *,
    orders: int,
    accept: Sequence[str] = (),
) -> dict[str, CalibrationArtefact]:
    """Return question id -> artefact for each "FILE" or "QUESTION=FILE".

    A file alone gives each of its artefacts to the question whose name it carries. Raises
    InvalidInput for a name that is no question and for two calibrators of one question,
    CalibrationError for an artefact that is sure not to fit, before anything is asked.
    """
    of_type(questions, Mapping, name="questions", what="a mapping of ids to questions")
    given = texts(given, name="given", must="be a list of texts, each FILE or QUESTION=FILE")
    accept = texts(accept, name="accept", must="be a list of parts of a fingerprint")
    chosen: dict[str, CalibrationArtefact] = {}
    for text in given:
        for name, artefact in _named(text, questions):
            if name not in questions:
                raise InvalidInput(f"calibrator: {unknown_name('question', name, questions)}")
            if name in chosen:
                raise InvalidInput(f"question {name!r} is given two calibrators")
            chosen[name] = artefact.accepting(*accept)
            check_fits(chosen[name], questions[name], orders=orders)
    return chosen


def check_fits(artefact: CalibrationArtefact, question: Question, *, orders: int) -> None:
    """Raise CalibrationError where the question, options, orders or library are others.

    The model, the readout and the prompt are known, and checked, with each answer.
    """
    asked = artefact.fingerprint.model_copy(
        update={
            "question": json.dumps(question.model_dump(mode="json"), sort_keys=True),
            "options": canonical(question),
            "orders": orders,
            "library": __version__,
        }
    )
    artefact.check(asked, accept=artefact.accepts)


def _named(text: str, questions: Mapping[str, Question]) -> list[tuple[str, CalibrationArtefact]]:
    before, sign, after = text.partition("=")
    if not (sign and before in questions):
        if sign and not Path(text).exists():
            raise InvalidInput(f"calibrator: {unknown_name('question', before, questions)}")
        return [(artefact.name, artefact) for artefact in load_artefacts(text)]
    artefacts = load_artefacts(after)
    if len(artefacts) > 1:
        own = [artefact for artefact in artefacts if artefact.name == before]
        if len(own) != 1:
            names = [artefact.name for artefact in artefacts]
            raise CalibrationError(f"{after!r} holds the calibrators of {names!r}, not {before!r}")
        return [(before, own[0])]
    return [(before, artefact) for artefact in artefacts]
