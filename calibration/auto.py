"""Choose and fit a calibrator, and say what it is worth on rows it did not see.

Simple maps are mixed, richer ones replace the mixture where they are surely better, and the answers
are left as they are wherever that is no worse: a calibrator never ships for its own sake.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, class_labels, log_probabilities, sample_weights
from classify.calibration.blending import BLEND, blend_shares, blended, blended_answers
from classify.calibration.calibrators import Calibrator, identity
from classify.calibration.cross_fit import ItemRows, fold_numbers, held_out, item_numbers
from classify.calibration.fitted import FLOOR, CalibrationWarning, check_floor
from classify.calibration.labelled import MIN_ITEMS, little_weight
from classify.calibration.methods import FITS, Method, Policy, check_method, policy
from classify.calibration.report import Calibrated, CalibrationReport, Candidate
from classify.calibration.settings import one_of, texts

FOLDS = 5


def calibrate(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    method: Method = "auto",
    kind: Literal["choice", "score"] = "choice",
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    options: Sequence[str] | None = None,
    seed: int = 0,
    floor: float = FLOOR,
) -> Calibrated:
    """Fit `method`, or what the labels can pay for, and keep it only where it helps.

    "auto" blends the raw answers with a temperature and with Platt's map (two options) or
    temperature and bias, each by how likely it makes labels left out of its fit; with more labels,
    richer methods replace the blend where they are surely better.

    `groups` names the item of each row, `options` the columns in what is said; their numbers if
    None. The `seed` deals items into folds, and neither the order of the rows nor the names of the
    groups matter. Probabilities below the `floor` count as that much, in fits, in losses and when
    applied. With fewer than 20 items, one class of labels or one option nothing is fitted;
    that, and a named method that loses to the raw answers, gives identity and a CalibrationWarning.
    The fit_… functions fit without asking. Raises CalibrationError for a method of two options
    ("platt", "beta") where there are more, and for one of rising levels ("proportional-odds") where
    `kind` is not "score".

    Answers that separate the labels make no map certain: targets short of 1, a ridge or a share of
    the uniform distribution hold it back. A parameter that stops at the end of its range all the
    same is said in `at_bound` and in the report.
    """
    one_of(method, ("auto", *sorted(FITS)), name="method")
    one_of(kind, ("choice", "score"), name="kind")
    rows = _rows(log_p, y, weights=weights, groups=groups, floor=floor)
    k = rows.log_p.shape[1]
    names = _names(options, k)
    check_method(method, k=k, kind=kind)
    reason = _too_little(rows, names)
    if reason:
        warnings.warn(f"nothing was fitted: {reason}", CalibrationWarning, stacklevel=2)
        return _result(rows, method, {"identity": rows.log_p}, chosen="identity", notes=(reason,))
    light = little_weight(rows.weights)
    if light:
        warnings.warn(light, CalibrationWarning, stacklevel=2)
    if method == "auto":
        return _auto(rows, policy(items=rows.counted, k=k, kind=kind), names, seed=seed)
    answers = {"identity": rows.log_p, **_held_out(rows, (method,), seed=seed)}
    chosen, notes = _kept(rows, answers, method, margin=0.0, names=names)
    if chosen != method:
        warnings.warn(notes[-1], CalibrationWarning, stacklevel=2)
    return _result(rows, method, answers, chosen=chosen, notes=notes)


def _auto(rows: ItemRows, plan: Policy, names: Sequence[str | int], *, seed: int) -> Calibrated:
    simple = {"identity": rows.log_p, **_held_out(rows, plan.blended, seed=seed)}
    shares = {name: share for name, share in blend_shares(rows, simple).items() if share}
    # Where one map has all of it there is nothing to mix.
    best = BLEND if len(shares) > 1 else next(iter(shares))
    mixed = {BLEND: blended_answers(rows, simple, shares)} if best == BLEND else {}
    answers = simple | mixed | _held_out(rows, plan.strict, seed=seed)
    for name in plan.strict:
        gain = rows.losses(answers[best]) - rows.losses(answers[name])
        # The errors of cross-fitted gains are themselves too small: one is passed by luck.
        if rows.mean(gain) > 2.0 * rows.error(gain):
            best = name
    chosen, notes = _kept(rows, answers, best, margin=plan.margin, names=names)
    return _result(rows, "auto", answers, chosen=chosen, notes=notes, shares=shares)


def _held_out(rows: ItemRows, methods: Sequence[str], *, seed: int) -> dict[str, Floats]:
    fold = fold_numbers(rows, folds=min(FOLDS, rows.counted), seed=seed)
    return {name: held_out(rows, FITS[name], fold) for name in methods if name != "identity"}


def _rows(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None,
    groups: ArrayLike | None,
    floor: float,
) -> ItemRows:
    x = log_probabilities(log_p)
    n, k = x.shape
    check_floor(floor)
    truth, w = class_labels(y, n=n, k=k), sample_weights(weights, n=n)
    items = item_numbers(groups, content=(x, truth), weights=w)
    return ItemRows(log_p=x, y=truth, weights=w, items=items, floor=floor)


def _names(options: Sequence[str] | None, k: int) -> Sequence[str | int]:
    if options is None:
        return range(k)
    return texts(options, name="options", must=f"name each of the {k} columns", count=k)


def _too_little(rows: ItemRows, names: Sequence[str | int]) -> str:
    if rows.log_p.shape[1] == 1:
        return "the question has one option, whose probability is always 1"
    if rows.counted < MIN_ITEMS:
        few = f"{rows.counted} labelled items are too few; label at least {MIN_ITEMS}"
        n = int(np.count_nonzero(rows.weights))
        return few if n < MIN_ITEMS else f"{few}; of the {n} rows those of one group are one item"
    seen = np.unique(rows.y[rows.weights > 0.0])
    if len(seen) == 1:
        return f"every label is option {names[seen[0]]!r}; label items of other options too"
    return ""


def _kept(
    rows: ItemRows,
    answers: Mapping[str, Floats],
    best: str,
    *,
    margin: float,
    names: Sequence[str | int],
) -> tuple[str, tuple[str, ...]]:
    """Return the method to use, with what the user should know about the rows and the choice."""
    low, light = rows.truth_below_floor, little_weight(rows.weights)
    notes: tuple[str, ...] = (light,) if light else ()
    if low:
        notes += (f"{low} rows gave the true option less than {rows.floor:g}, counted as that",)
    unseen = [name for name, count in zip(names, rows.label_counts, strict=True) if not count]
    if unseen:
        notes += (f"no label names the options {unseen!r}",)
    if best == "identity":
        why = "nothing is as likely as the raw answers on rows it did not see: raw kept"
        return best, (*notes, why) if len(answers) > 1 else notes
    gains = rows.losses(answers["identity"]) - rows.losses(answers[best])
    gain, error = rows.mean(gains), rows.error(gains)
    if gain > margin * error:
        return best, notes
    unsure = f" ({gain:+.3f} nats; {margin:.2g} times the error of {error:.3f} may be chance)"
    return "identity", (
        *notes,
        f"{best} is not surely better than the raw answers on rows it did not see{unsure}: raw kept"
        if margin
        else f"{best} is no better than the raw answers on rows it did not see: raw kept",
    )


def _result(
    rows: ItemRows,
    requested: str,
    answers: Mapping[str, Floats],
    *,
    chosen: str,
    notes: tuple[str, ...],
    shares: Mapping[str, float] | None = None,
) -> Calibrated:
    calibrator: Calibrator
    if shares and chosen == BLEND:
        calibrator = blended([_fitted(rows, name) for name in shares], list(shares.values()))
        told = ", ".join(f"{share:.2f} {name}" for name, share in shares.items())
        notes += (f"the shares of the blend: {told}",)
    else:
        calibrator = _fitted(rows, chosen)
    if calibrator.at_bound:
        notes += (f"a parameter of {chosen} stopped at its bound: do answers follow the labels?",)
    tried = tuple(_candidate(rows, name, log_p) for name, log_p in answers.items() if len(log_p))
    after = {candidate.method: candidate.log_loss for candidate in tried}
    report = CalibrationReport(
        requested=requested,
        chosen=chosen,
        n=int(np.count_nonzero(rows.weights)),
        items=rows.counted,
        k=rows.log_p.shape[1],
        label_counts=rows.label_counts,
        folds=min(FOLDS, rows.counted) if len(answers) > 1 else 0,
        floor=rows.floor,
        log_loss_before=after.get("identity"),
        log_loss_after=after.get(chosen),
        candidates=tried,
        notes=notes,
    )
    return Calibrated(calibrator, report, answers[chosen])


def _fitted(rows: ItemRows, method: str) -> Calibrator:
    if method == "identity":
        return identity(rows.log_p.shape[1], n=int(np.count_nonzero(rows.weights)))
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):  # said once above
        return FITS[method](rows.log_p, rows.y, weights=rows.weights, floor=rows.floor)


def _candidate(rows: ItemRows, name: str, log_p: Floats) -> Candidate:
    losses = rows.losses(log_p)
    gain = rows.losses(rows.log_p) - losses
    return Candidate(
        method=name,
        log_loss=rows.mean(losses),
        gain=rows.mean(gain),
        gain_error=rows.error(gain),
    )
