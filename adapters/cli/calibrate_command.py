"""`classify calibrate`: fit calibrators to labelled results, and show what they are worth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_args

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
    check_some,
    print_lines,
    read_answers,
    with_labels,
)
from classify.errors import CalibrationError, InvalidInput

if TYPE_CHECKING:
    from classify.calibration.from_results import CalibratedResults
    from classify.calibration.rated_results import CalibratedMeans
    from classify.calibration.report import CalibrationReport
    from classify.calibration.result_labels import LabelledAnswers
    from classify.json_values import JSON

    Calibrated: TypeAlias = CalibratedResults | CalibratedMeans

SHOWN = (
    *("log loss", "Brier", "smooth ECE", "debiased error", "ECE, classwise", "accuracy"),
    *("MAE", "mean bias", "Spearman", "tau-b"),
)


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
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Picture before and after; ARTEFACT with .svg if left out.",
        ),
    ] = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Fit calibrators to labelled results; report held-out metrics before and after."""
    from classify.calibration.artefact_file import save_artefacts

    _check_method(method)
    picture = output.with_suffix(".svg") if svg is None else svg
    if picture == output:
        raise InvalidInput(
            f"--output {str(output)!r} is the picture's file: name another with --svg"
        )
    _check_target(output, "-o", mark='{"format": "classify-calibration"')
    _check_target(picture, "--svg", mark="<svg")
    check_some(results)
    if asked_questions(results, spec) is None:
        raise InvalidInput(
            f"{str(results)!r} has no .run.json beside it, and a calibrator holds for one way of "
            "asking: name the spec of the run with --spec"
        )
    if spec is not None:
        _check_spec(results, spec)
    answers = read_answers(results, labels=labels, spec=spec, question=question)
    labelled = with_labels(answers)
    found = {name: _calibrated(name, each, method, seed) for name, each in labelled.items()}
    save_artefacts(output, [each.artefact for each in found.values()])
    _draw(picture, found)
    if as_json:
        show_json({name: _json(each) for name, each in found.items()})
    else:
        for name, each in found.items():
            print_lines(name, _lines(each))
    for name in answers:
        if name not in labelled:
            say(f"{name}: no calibrator, {answers[name].nothing_labelled}")
    say(f"calibrators: {output}")


def _check_target(path: Path, option: str, *, mark: str) -> None:
    """Raise InvalidInput where there is no folder, or a file that is no earlier one of its kind.

    So what is read, such as the results, is never replaced.
    """
    if not path.parent.is_dir():
        raise InvalidInput(f"the directory {str(path.parent)!r} does not exist: create it first")
    if not path.exists():
        return
    if path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            start = " ".join(file.read(200).split()).replace("{ ", "{")
        if not start or start.startswith(mark):
            return
    raise InvalidInput(
        f"{str(path)!r} is there and was not made by this command: name another with {option}"
    )


def _check_spec(results: Path, spec: str) -> None:
    """Raise InvalidInput where the record of the run says that something else was asked.

    The calibrator would be kept as that of a question which these answers are no answers to.
    """
    from classify.calibration.question_fields import differing_fields
    from classify.run_record import read_record
    from classify.spec import load_spec

    record, read = read_record(results), load_spec(spec)
    if record is None:
        return
    given = {name: read.questions[name] for name in read.questions if name in record.questions}
    asked = {name: record.questions[name].model_dump(mode="json") for name in given}
    other = differing_fields(
        {**asked, "options.orders": record.options.orders},
        {
            **{name: question.model_dump(mode="json") for name, question in given.items()},
            "options.orders": read.options.orders,
        },
    )
    if other:
        raise InvalidInput(
            f"--spec {spec!r} is not what {str(results)!r} was asked: its .run.json has other "
            f"{', '.join(other)}; leave out --spec, or run the rows with this spec"
        )


def _check_method(name: str) -> None:
    from classify.calibration.methods import Method
    from classify.calibration.rated_results import METHOD

    known = (*get_args(Method), METHOD)
    if name not in known:
        raise InvalidInput(f"--method must be one of {', '.join(known)}, got {name!r}")


def _calibrated(name: str, answers: LabelledAnswers, method: str, seed: int) -> Calibrated:
    from classify.calibration.from_results import calibrate_results
    from classify.calibration.methods import Method
    from classify.calibration.rated_results import METHOD, calibrate_means

    if method == METHOD and answers.question.type != "score":
        raise InvalidInput(
            f"--method {METHOD} maps scores and {name!r} is a {answers.question.type}: name a "
            "score with --question"
        )
    # Means of raters that happen to be whole are no fair sample of what people said.
    by_means = method == "auto" and answers.between > int(answers.labelled.sum())
    if method == METHOD or by_means:
        return calibrate_means(name, answers, seed=seed, requested=method)
    known: tuple[Method, ...] = get_args(Method)
    # The same text, as its type.
    try:
        found = calibrate_results(name, answers, method=known[known.index(method)], seed=seed)
    except CalibrationError as error:
        out = "" if method == "auto" else "; --method auto suits all, --question names one of them"
        raise CalibrationError(f"{name}: {error}{out}") from error
    if answers.between:
        say(f"{name}: {answers.between} labels between two levels: --method {METHOD} uses them")
    return found


def _draw(path: Path, found: dict[str, Calibrated]) -> None:
    from classify.calibration.rated_results import CalibratedMeans
    from classify.calibration.svg import before_after_svg

    for name, each in found.items():
        if isinstance(each, CalibratedMeans):
            say(f"{name}: no picture, reliability is of single levels and not of means")
            continue
        target = path if len(found) == 1 else path.with_stem(f"{path.stem}-{name}")
        target.write_text(before_after_svg(*each.diagrams, title=name), encoding="utf-8")
        say(f"picture: {target}")


def _lines(found: Calibrated) -> list[str]:
    from classify.calibration.from_results import item_weights
    from classify.calibration.measurement import rows_used

    report, between = found.artefact.report, found.answers.between
    counts = zip(found.answers.options, report.label_counts, strict=True)
    said = ", ".join(f"{option} {count}" for option, count in counts)
    lines = [
        found.used,
        f"labels         {said}" + (f", between two levels {between}" if between else ""),
        f"method         {report.chosen} (asked for: {report.requested})",
    ]
    kept, notes = _raw_kept(report)
    lines += kept
    rows = rows_used(report.n, found.answers.given)
    by_item = bool((item_weights(found.answers) != found.answers.weights).any())
    if by_item:
        rows += ", an item counts once"
    lines += [
        f"tried          {each.method}: log loss {each.log_loss:.4f}, "
        f"gain {each.gain:+z.4f} (± {each.gain_error:.4f})  ({rows}, held out)"
        for each in report.candidates
    ]
    lines += [*notes, *filter(None, [found.answers.dependence])]
    if by_item:
        lines.append("below, each reading of an item counts, but where null values are told")
    before, after = dict(found.before.named()), dict(found.after.named())
    for name in (name for name in SHOWN if before.get(name) is not None):
        lines.append(f"{name:<14} before {before[name]}")
        lines.append(f"{'':<14} after  {after[name]}")
    return lines


def _raw_kept(report: CalibrationReport) -> tuple[list[str], tuple[str, ...]]:
    """Return why the raw answers are kept, where they are, and the notes that are left."""
    if report.chosen != "identity" or report.requested == "identity":
        return [], report.notes
    if not report.folds:
        why, *rest = report.notes
        kept = f"the raw answers are kept (identity), nothing was fitted: {why}"
        return [kept], tuple(rest)
    kept = "the raw answers are kept: nothing that was tried is surely better on rows left out"
    if report.requested == "auto":
        kept += " (a richer method by twice its ±)"
    return [kept], report.notes


def _json(found: Calibrated) -> JSON:
    from classify.adapters.cli.plain_json import plain

    return {
        "used": found.used,
        "report": plain(found.artefact.report),
        "before": plain(found.before),
        "after": plain(found.after),
        "digest": found.artefact.digest,
    }
