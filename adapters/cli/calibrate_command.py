"""`classify calibrate`: fit calibrators to labelled results, and show what they are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from classify.adapters.cli.console import reported, say, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    Results,
    Seed,
    SpecOption,
    asked_questions,
    print_lines,
    read_answers,
)
from classify.errors import CalibrationError, InvalidInput

if TYPE_CHECKING:
    from classify.calibration.from_results import CalibratedResults
    from classify.calibration.methods import Method
    from classify.calibration.result_labels import LabelledAnswers
    from classify.json_values import JSON


@reported
def calibrate(
    results: Results,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="ARTEFACT", help="File of the calibrators.")
    ],
    labels: Labels = None,
    question: OneQuestion = None,
    method: Annotated[
        str, typer.Option(help="auto, or a method to fit; kept only where it helps.")
    ] = "auto",
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Picture before and after.")
    ] = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit calibrators to labelled results; report held-out metrics before and after."""
    from classify.calibration.artefact_file import save_artefacts

    chosen = _method(method)
    if asked_questions(results, spec) is None and results.exists():
        raise InvalidInput(
            f"{str(results)!r} has no .run.json beside it, and a calibrator holds for one way of "
            "asking: name the spec of the run with --spec"
        )
    answers = read_answers(results, labels=labels, spec=spec, question=question)
    labelled = {name: each for name, each in answers.items() if each.labelled.any()}
    if not labelled:
        raise CalibrationError(_nothing_labelled(answers))
    found = {name: _calibrated(name, each, chosen, seed) for name, each in labelled.items()}
    save_artefacts(output, [each.artefact for each in found.values()])
    if svg is not None:
        _draw(svg, found)
    if as_json:
        show_json({name: _json(each) for name, each in found.items()})
    else:
        for name, each in found.items():
            print_lines(name, _lines(each))
    for name in answers.keys() - labelled.keys():
        say(f"{name}: no labels, no calibrator")
    say(f"calibrators: {output}")


def _method(name: str) -> Method:
    from classify.calibration.methods import Method

    if name not in get_args(Method):
        raise InvalidInput(f"--method must be one of {', '.join(get_args(Method))}, got {name!r}")
    known: tuple[Method, ...] = get_args(Method)
    return known[known.index(name)]  # the same text, as its type


def _nothing_labelled(answers: dict[str, LabelledAnswers]) -> str:
    rows = "; ".join(f"{name}: {each.used}" for name, each in answers.items())
    return f"no answer has a label ({rows}): give --labels FILE, or run with labelled rows"


def _calibrated(
    name: str, answers: LabelledAnswers, method: Method, seed: int
) -> CalibratedResults:
    from classify.calibration.from_results import calibrate_results

    return calibrate_results(name, answers, method=method, seed=seed)


def _draw(path: Path, found: dict[str, CalibratedResults]) -> None:
    from classify.calibration.svg import before_after_svg

    for name, each in found.items():
        target = path if len(found) == 1 else path.with_stem(f"{path.stem}-{name}")
        target.write_text(before_after_svg(*each.diagrams, title=name), encoding="utf-8")
        say(f"picture: {target}")


def _lines(found: CalibratedResults) -> list[str]:
    report = found.artefact.report
    counts = zip(found.answers.options, report.label_counts, strict=True)
    lines = [
        found.answers.used,
        "labels         " + ", ".join(f"{option} {count}" for option, count in counts),
        f"method         {report.chosen} (asked for: {report.requested})",
    ]
    if report.chosen == "identity":
        lines.append("the raw answers are kept: nothing that was tried is better on rows left out")
    lines += [
        f"tried          {each.method}: log loss {each.log_loss:.4f}, "
        f"gain {each.gain:+.4f} (± {each.gain_error:.4f})"
        for each in report.candidates
    ]
    lines += report.notes
    before, after = dict(found.before.named()), dict(found.after.named())
    for name in ("log loss", "Brier", "smooth ECE", "debiased error", "accuracy"):
        lines.append(f"{name:<14} before {before[name]}")
        lines.append(f"{'':<14} after  {after[name]}")
    return lines


def _json(found: CalibratedResults) -> JSON:
    from classify.adapters.cli.plain_json import plain

    return {
        "used": found.answers.used,
        "report": plain(found.artefact.report),
        "before": plain(found.before),
        "after": plain(found.after),
        "digest": found.artefact.digest,
    }
