"""calibrate(): fit what the labels can pay for, and keep it only where it helps."""

from __future__ import annotations

import itertools
import warnings
from inspect import signature
from typing import Literal, cast

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.auto import calibrate
from classify.calibration.calibrators import Calibrator, IdentityCalibrator
from classify.calibration.cross_fit import ItemRows, fold_numbers, held_out, item_numbers
from classify.calibration.fitted import CalibrationWarning
from classify.calibration.methods import FITS, Method, Policy, policy
from classify.errors import CalibrationError

BOOLEAN, CHOICE = ("temperature", "platt"), ("temperature", "temperature-bias")


def simulated(n: int, k: int, *, seed: int, temperature: float, lean: float) -> tuple[Floats, Ints]:
    """Return answers too sharp by `temperature`, leaning to the first option, with labels."""
    random = np.random.default_rng(seed)
    truth = random.normal(0.0, 1.3, (n, k))
    p = np.exp(log_probabilities(truth))
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    return log_probabilities(temperature * truth + lean * np.eye(k)[0]), y.astype(np.int64)


@pytest.mark.parametrize(
    ("items", "k", "kind", "expected"),
    [
        (20, 2, "choice", Policy(BOOLEAN, margin=1.5)),
        (50, 2, "choice", Policy(BOOLEAN, margin=1.0)),
        (200, 2, "score", Policy(BOOLEAN, ("venn-abers",), margin=1.0)),
        (1000, 2, "choice", Policy(BOOLEAN, ("venn-abers", "beta", "isotonic"), margin=1.0)),
        (20, 10, "choice", Policy(CHOICE, margin=1.5)),
        (500, 10, "choice", Policy(CHOICE, ("vector",), margin=1.0)),
        (35, 5, "score", Policy(CHOICE, margin=1.25)),
        (50, 5, "score", Policy(CHOICE, ("proportional-odds",), margin=1.0)),
    ],
)
def test_more_labels_buy_more_methods(items: int, k: int, kind: str, expected: Policy) -> None:
    """The limits of the measured policy."""
    found = policy(items=items, k=k, kind="score" if kind == "score" else "choice")

    assert found == expected


@pytest.mark.parametrize("k", [2, 5])
def test_one_label_more_changes_the_margin_little(k: int) -> None:
    """From 20 to 50 it falls evenly, and is 1 from there on: no single label is worth a method."""
    margins = [policy(items=items, k=k, kind="choice").margin for items in range(20, 61)]

    steps = -np.diff(margins)
    assert (margins[0], margins[30], margins[-1]) == (1.5, 1.0, 1.0)
    np.testing.assert_allclose(steps[:30], 0.5 / 30.0)
    np.testing.assert_array_equal(steps[30:], 0.0)


@pytest.mark.parametrize("k", [2, 5])
def test_sharp_and_leaning_answers_are_mended(k: int) -> None:
    """The gain on new rows is what the cross-fitted report said, about."""
    log_p, y = simulated(400, k, seed=1, temperature=2.0, lean=1.5)
    new, truth = simulated(20_000, k, seed=2, temperature=2.0, lean=1.5)

    found = calibrate(log_p, y)

    after = -found.calibrator.apply(new)[np.arange(20_000), truth].mean()
    before, expected = found.report.log_loss_before, found.report.log_loss_after
    assert before is not None and expected is not None
    assert expected < before - 0.1
    assert after == pytest.approx(expected, abs=0.1)
    assert found.report.chosen == ("platt" if k == 2 else "temperature-bias")


def test_the_report_holds_what_was_tried() -> None:
    """The cross-fitted losses are those of the held-out answers."""
    log_p, y = simulated(300, 2, seed=3, temperature=2.0, lean=0.0)

    found = calibrate(log_p, y)

    report = found.report
    losses = -found.held_out[np.arange(300), y]
    assert report.log_loss_after == pytest.approx(losses.mean())
    assert [c.method for c in report.candidates] == [
        "identity",
        "temperature",
        "platt",
        "blend",
        "venn-abers",
    ]
    # The odds of the two are e to the power of the total gain, less one nat of head start.
    loss = {c.method: c.log_loss for c in report.candidates}
    share = 1.0 / (1.0 + np.exp(300 * (loss["temperature"] - loss["platt"]) - 1.0))
    told = f"the shares of the blend: {share:.2f} temperature, {1.0 - share:.2f} platt"
    assert report.notes == (told,)
    assert (report.n, report.items, report.k, report.folds) == (300, 300, 2, 5)
    assert report.label_counts == tuple(np.bincount(y).tolist())


@pytest.mark.parametrize(("labels", "near"), [(20, 0.2), (100, 0.06)])
def test_ten_options_that_lean_far_are_mended_and_stay_sure(labels: int, near: float) -> None:
    """The loss is halved, and the mean confidence lies near the share of right answers.

    Smoothing each option's labels apart, and a ridge fixed at 2, left it 0.36 and 0.18 too low.
    """
    random, n = np.random.default_rng(11), 2000 + labels
    y = random.permutation(n) % 10
    noise, lean = 1.5 * random.normal(size=(n, 10)), 3.0 * random.normal(size=10)
    log_p = log_probabilities(4.0 * np.eye(10)[y] + noise + lean)

    found = calibrate(log_p[:labels], y[:labels])

    new, before, right = found.calibrator.apply(log_p[labels:]), log_p[labels:], y[labels:]
    rows = np.arange(2000)
    assert new[rows, right].mean() > 0.5 * before[rows, right].mean()
    confidence = np.exp(new.max(axis=1)).mean()
    assert confidence == pytest.approx((new.argmax(axis=1) == right).mean(), abs=near)


def test_calibrated_answers_are_left_alone_or_nearly() -> None:
    """Over twelve draws of 100 labels the loss on new rows stays within 0.005 nats of none."""
    new, truth = simulated(5000, 2, seed=4, temperature=1.0, lean=0.0)
    rows = np.arange(5000)
    harm: list[float] = []
    for seed in range(12):
        found = calibrate(*simulated(100, 2, seed=seed, temperature=1.0, lean=0.0), seed=seed)
        harm.append(float((new - found.calibrator.apply(new))[rows, truth].mean()))

    assert np.mean(harm) < 0.005


def test_identity_stays_where_nothing_is_better() -> None:
    """Answers that carry nothing but the truth about their frequencies cannot be improved."""
    y = np.repeat([0, 1], 50)

    found = calibrate(np.log(np.full((100, 2), 0.5)), y)

    assert isinstance(found.calibrator, IdentityCalibrator)
    assert found.report.chosen == "identity"
    blend = found.report.candidates[-1]
    error = f"1 times the error of {blend.gain_error:.3f} may be chance"
    assert f"({blend.gain:+.3f} nats; {error}): raw kept" in found.report.notes[-1]


def test_raw_answers_that_are_far_likelier_than_any_map_are_kept() -> None:
    """There is nothing to mix them with."""
    found = calibrate(*simulated(40, 3, seed=29, temperature=1.0, lean=0.0))

    report = found.report
    assert report.chosen == "identity"
    raw, *maps = report.candidates
    assert [each.method for each in maps] == ["temperature", "temperature-bias"]
    for steps, each in enumerate(maps, start=1):
        assert 40 * (raw.log_loss - each.log_loss) - steps < -np.log(20.0)
    assert report.notes[-1].startswith("nothing is as likely as the raw answers")


def test_a_named_method_that_loses_gives_identity_and_says_so() -> None:
    """The fit functions are there for those who want it all the same."""
    with pytest.warns(CalibrationWarning, match="isotonic is no better than the raw answers"):
        found = calibrate(*simulated(60, 2, seed=5, temperature=1.0, lean=0.0), method="isotonic")

    assert found.report.chosen == "identity"


@pytest.mark.parametrize("method", sorted(FITS))
def test_every_method_can_be_named(method: Method) -> None:
    """Answers four times too sharp are mended by any of them."""
    log_p, y = simulated(300, 2, seed=6, temperature=4.0, lean=1.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(log_p, y, method=method, kind="score")

    assert found.report.requested == method
    assert found.report.chosen == method


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["beta", "platt"])
def test_methods_of_two_options_are_refused_for_three(method: Method, seed: int) -> None:
    """By their number, and not by whether rounding makes identity look a little better."""
    log_p, y = simulated(60, 3, seed=seed, temperature=2.0, lean=0.0)

    with pytest.raises(CalibrationError, match=f"'{method}' takes two options .* log_p has 3"):
        calibrate(log_p, y, method=method)
    with pytest.raises(CalibrationError, match=f"'{method}' takes two options"):
        calibrate(log_p[:10], y[:10], method=method)


def test_one_option_is_left_as_it_is_by_any_method() -> None:
    """There is nothing to fit, so nothing is of the wrong number."""
    with pytest.warns(CalibrationWarning, match="one option"):
        found = calibrate(np.zeros((30, 1)), [0] * 30, method="platt")

    assert found.report.chosen == "identity"


@pytest.mark.parametrize("k", [2, 5])
def test_a_method_of_levels_is_refused_for_options_without_an_order(k: int) -> None:
    """Their columns stand in the order of their names, which says nothing."""
    log_p, y = simulated(300, k, seed=6, temperature=4.0, lean=0.0)

    with pytest.raises(CalibrationError, match=r"kind is 'choice'.* give kind='score'"):
        calibrate(log_p, y, method="proportional-odds")
    found = calibrate(log_p, y, method="proportional-odds", kind="score")

    assert found.report.chosen == "proportional-odds"


def test_only_a_fold_of_one_class_keeps_its_answers() -> None:
    """Any other error of a fit is the caller's to see."""
    log_p, y = simulated(60, 2, seed=1, temperature=4.0, lean=0.0)
    fold = np.arange(60) % 5
    rows = ItemRows(log_p, y, np.ones(60), np.arange(60), 1e-6)
    lone = ItemRows(log_p, (fold == 0).astype(np.int64), np.ones(60), np.arange(60), 1e-6)

    def broken(log_p: object, y: object, *, weights: object, floor: float) -> Calibrator:
        raise CalibrationError("the fit is broken")

    with pytest.raises(CalibrationError, match="the fit is broken"):
        held_out(rows, broken, fold)
    answers = held_out(lone, FITS["temperature"], fold)

    np.testing.assert_allclose(answers[fold == 0], log_p[fold == 0])
    assert (answers[fold == 1] != log_p[fold == 1]).any()


def test_unknown_words_and_floors_are_refused() -> None:
    """The message names those there are; a caller without a checker can give anything."""
    log_p, y = np.zeros((30, 2)), np.zeros(30)

    with pytest.raises(CalibrationError, match="method must be one of 'auto', 'beta'"):
        calibrate(log_p, y, method=cast("Method", "magic"))
    with pytest.raises(CalibrationError, match=r"method must be one of .* got \['platt'\]"):
        calibrate(log_p, y, method=cast("Method", ["platt"]))
    with pytest.raises(CalibrationError, match="kind must be one of 'choice', 'score', got nan"):
        calibrate(log_p, y, kind=cast("Literal['choice']", float("nan")))
    with pytest.raises(CalibrationError, match="floor must be a finite number, got None"):
        calibrate(log_p, y, floor=cast("float", None))


@pytest.mark.parametrize(
    ("log_p", "y", "reason"),
    [
        (np.zeros((0, 3)), [], "0 labelled items"),
        (np.zeros((1, 3)), [0], "1 labelled items"),
        (np.zeros((19, 3)), [0, 1, 2] * 6 + [0], "19 labelled items"),
        (np.zeros((30, 3)), [1] * 30, "every label is option 1"),
        (np.zeros((30, 1)), [0] * 30, "one option"),
    ],
    ids=["no rows", "one row", "19 rows", "one class", "one option"],
)
def test_too_little_gives_identity_and_a_warning(log_p: Floats, y: list[int], reason: str) -> None:
    """The documented answer, never a guess."""
    with pytest.warns(CalibrationWarning, match=reason):
        found = calibrate(log_p, y)

    assert found.report.chosen == "identity"
    assert found.report.folds == 0
    assert reason in found.report.notes[0]
    assert found.held_out.shape == log_p.shape
    assert (found.report.log_loss_before is None) == (len(y) == 0)


def test_options_that_are_named_are_named_in_what_is_said() -> None:
    """One name for each column, or it would be the wrong one."""
    with pytest.warns(CalibrationWarning, match="every label is option 'refund'"):
        calibrate(np.zeros((30, 2)), [1] * 30, options=["delivery", "refund"])
    with pytest.raises(CalibrationError, match="options must name each of the 2 columns"):
        calibrate(np.zeros((30, 2)), [1] * 30, options=["delivery"])


def test_rows_of_few_items_are_few_labels() -> None:
    """Ten copies of each of ten items are ten labels, not a hundred."""
    log_p, y = simulated(10, 2, seed=7, temperature=3.0, lean=0.0)

    with pytest.warns(CalibrationWarning, match="10 labelled items .*; of the 100 rows"):
        calibrate(np.repeat(log_p, 10, axis=0), np.repeat(y, 10), groups=np.repeat(range(10), 10))


def test_copies_of_a_row_do_not_help_when_named() -> None:
    """Without groups an isotonic fit would have seen the twin of every row it is tested on."""
    log_p, y = simulated(60, 2, seed=8, temperature=1.0, lean=0.0)
    twice, labels, items = np.repeat(log_p, 4, axis=0), np.repeat(y, 4), np.repeat(range(60), 4)

    fooled = calibrate(twice, labels)
    found = calibrate(twice, labels, groups=[f"item {i}" for i in items])

    assert found.report.items == 60
    assert found.report.log_loss_after is not None
    assert fooled.report.log_loss_after is not None
    assert found.report.log_loss_after > fooled.report.log_loss_after


def test_impossible_truths_and_unseen_options_are_noted() -> None:
    """The user sees how many rows were counted at the floor."""
    log_p, y = simulated(60, 3, seed=9, temperature=2.0, lean=0.0)
    y = np.minimum(y, 1)
    log_p[0, y[0]] = -np.inf

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(log_p, y)

    assert "1 rows gave the true option less than 1e-06, counted as that" in found.report.notes
    assert "no label names the options [2]" in found.report.notes


def test_the_same_seed_gives_the_same_result() -> None:
    """There is no other source of chance."""
    rows = simulated(120, 3, seed=10, temperature=2.0, lean=1.0)

    assert calibrate(*rows, seed=3).report == calibrate(*rows, seed=3).report


def test_rows_of_weight_zero_change_nothing_but_are_answered() -> None:
    """They may be rows without a trusted label."""
    log_p, y = simulated(100, 2, seed=11, temperature=2.0, lean=0.0)
    extra, wrong = simulated(50, 2, seed=12, temperature=9.0, lean=5.0)
    weights = np.repeat([1.0, 0.0], [100, 50])

    found = calibrate(
        np.concatenate([log_p, extra]),
        np.concatenate([y, wrong]),
        weights=weights,
        method="temperature",
    )

    alone = FITS["temperature"](log_p, y, weights=None, floor=1e-6)
    np.testing.assert_allclose(found.calibrator.apply(extra), alone.apply(extra))
    assert found.report.n == 100 and found.held_out.shape == (150, 2)


def test_items_stay_together_and_labels_are_spread() -> None:
    """Every fold has its share of every label, and no item is in two."""
    y, w = np.repeat(np.arange(100) % 4, 3), np.ones(300)
    log_p = log_probabilities(np.random.default_rng(0).normal(size=(300, 4)))
    names = np.repeat([f"i{i}" for i in range(100)], 3)
    items = item_numbers(names, content=(log_p, y), weights=w)

    fold = fold_numbers(ItemRows(log_p, y, w, items, 1e-6), folds=5, seed=0)

    assert all(len(set(fold[items == item])) == 1 for item in range(100))
    for number in range(5):
        np.testing.assert_array_equal(np.bincount(y[fold == number]), [15, 15, 15, 15])


@pytest.mark.parametrize("steps", [None, 4.0], ids=["rows apart", "rows alike"])
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "items"])
@pytest.mark.parametrize("k", [2, 3])
def test_neither_the_order_of_rows_nor_names_of_groups_matter(
    k: int, grouped: bool, steps: float | None
) -> None:
    """Sixty labels are few enough for folds to decide what is kept; rows may also be the same."""
    random = np.random.default_rng(20 + k)
    log_p, y = simulated(60, k, seed=20 + k, temperature=1.3, lean=0.4)
    log_p = log_p if steps is None else np.round(log_p * steps) / steps
    weights = random.integers(0, 4, 60) / 2.0
    item = random.integers(0, 35, 60)
    first = calibrate(log_p, y, weights=weights, groups=item if grouped else None)

    for _ in range(8):
        order, names = random.permutation(60), random.permutation(35)
        again = calibrate(
            log_p[order],
            y[order],
            weights=weights[order],
            groups=names[item[order]] if grouped else None,
        )

        assert again.report.chosen == first.report.chosen
        for one, other in zip(again.report.candidates, first.report.candidates, strict=True):
            assert one.method == other.method
            assert (one.log_loss, one.gain, one.gain_error) == pytest.approx(
                (other.log_loss, other.gain, other.gain_error), abs=1e-9
            )
        new = log_probabilities(random.normal(size=(9, k)))
        np.testing.assert_allclose(
            again.calibrator.apply(new), first.calibrator.apply(new), atol=1e-9
        )


def test_folds_follow_what_items_hold_and_not_rows_of_weight_zero() -> None:
    """The held-out answer of a row is the same wherever it stands and whoever stands beside it."""
    log_p, y = simulated(40, 2, seed=5, temperature=2.0, lean=0.0)
    extra, wrong = simulated(7, 2, seed=6, temperature=2.0, lean=0.0)
    order = np.random.default_rng(1).permutation(47)
    weights = np.repeat([1.0, 0.0], [40, 7])[order]

    found = calibrate(
        np.concatenate([log_p, extra])[order], np.concatenate([y, wrong])[order], weights=weights
    )

    alone = calibrate(log_p, y)
    assert found.report.chosen == alone.report.chosen
    back = found.held_out[np.argsort(order)][:40]
    np.testing.assert_allclose(back, alone.held_out, atol=1e-9)


def test_items_that_hold_the_same_rows_are_told_apart_from_others() -> None:
    """Two rows are the same in all three items: what else is in each decides its number."""
    a, b, c, d = (np.log([p, 1 - p]) for p in (0.2, 0.4, 0.6, 0.8))
    rows, names = np.array([a, b, a, c, a, d, b]), np.array([0, 0, 1, 1, 2, 2, 2])
    plain = item_numbers(names, content=(rows,), weights=np.ones(7))

    for order in itertools.permutations(range(7)):
        place = list(order)
        turned = item_numbers(2 - names[place], content=(rows[place],), weights=np.ones(7))
        assert turned.tolist() == plain[place].tolist()


def test_groups_of_another_length_are_refused() -> None:
    """Each row has its item."""
    with pytest.raises(CalibrationError, match="groups must hold one identifier for each of the"):
        calibrate(np.zeros((30, 2)), np.zeros(30), groups=["a"])


def test_the_answers_of_a_calibration_cannot_be_written_over() -> None:
    """The report beside them is of these."""
    log_p, y = simulated(40, 2, seed=3, temperature=2.0, lean=0.0)

    found = calibrate(log_p, y)

    with pytest.raises(ValueError, match="read-only"):
        found.held_out[0, 0] = 0.0


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", ["auto", *sorted(FITS.keys() - {"identity"})])
def test_answers_that_separate_the_labels_make_no_map_certain(method: Method, k: int) -> None:
    """Every method keeps a thousandth of a percent at least, and tells of bounds it stopped at."""
    if k > 2 and method in ("beta", "platt"):
        pytest.skip("of two options")
    y = np.arange(60) % k
    noise = 0.3 * np.random.default_rng(0).normal(size=(60, k))
    log_p = log_probabilities(2.0 * np.eye(k)[y] + noise)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(log_p, y, method=method, kind="score")

    assert np.exp(found.calibrator.apply(log_p)).max() < 1.0 - 1e-5
    told = any("stopped at its bound" in note for note in found.report.notes)
    assert told == found.calibrator.at_bound


def test_every_argument_of_calibrate_is_explained() -> None:
    """In its docstring, or in the table of arguments that all of the package shares."""
    shared = {"log_p", "y", "weights"}
    said = calibrate.__doc__ or ""

    for name in signature(calibrate).parameters.keys() - shared:
        assert f"`{name}`" in said


def test_the_floor_is_what_smaller_probabilities_count_as() -> None:
    """In the loss before and after, and in the calibrator."""
    log_p, y = simulated(60, 2, seed=9, temperature=2.0, lean=0.0)
    log_p[0, y[0]] = -np.inf

    low = calibrate(log_p, y, method="temperature", floor=1e-9)
    high = calibrate(log_p, y, method="temperature", floor=1e-3)

    assert low.report.log_loss_before is not None and high.report.log_loss_before is not None
    gap = low.report.log_loss_before - high.report.log_loss_before
    raised = np.maximum(log_p[np.arange(60), y], np.log(1e-3)).mean()
    assert high.report.log_loss_before == pytest.approx(-raised)
    assert gap == pytest.approx(np.log(1e6) / 60)
    assert high.calibrator.fitted_on.floor == 1e-3
