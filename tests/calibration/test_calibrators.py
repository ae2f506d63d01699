"""What holds for every calibrator, whatever its method."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from pydantic import ValidationError

from classify.calibration.arrays import Floats, Ints
from classify.calibration.bias import fit_temperature_bias, fit_vector
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.calibrators import CALIBRATORS, Calibrator, chain, identity
from classify.calibration.fitted import FittedOn
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.matrix import fit_matrix
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.temperature import fit_temperature, fit_temperature_mixture
from classify.calibration.venn_abers import fit_venn_abers
from classify.errors import CalibrationError

Rows = tuple[Floats, Ints]

FITS: dict[str, Callable[..., Calibrator]] = {
    "isotonic": fit_isotonic,
    "matrix": fit_matrix,
    "proportional-odds": fit_proportional_odds,
    "temperature": fit_temperature,
    "temperature-bias": fit_temperature_bias,
    "temperature-mixture": fit_temperature_mixture,
    "vector": fit_vector,
    "venn-abers": fit_venn_abers,
}
BINARY: dict[str, Callable[..., Calibrator]] = {"beta": fit_beta, "platt": fit_platt}
ALL = FITS | BINARY
of_any_method = pytest.mark.parametrize("name", sorted(ALL))


def simulated(
    n: int, k: int, *, seed: int, temperature: float = 1.0, bias: Sequence[float] = (0.0,)
) -> Rows:
    """Return answers that are too sharp by `temperature` and lean by `bias`, with true labels."""
    random = np.random.default_rng(seed)
    truth = random.normal(0.0, 1.3, (n, k))
    p = np.exp(truth)
    p /= p.sum(axis=1, keepdims=True)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    return temperature * truth + np.array(bias), y.astype(np.int64)


def options_of(name: str) -> int:
    """Return a number of options the method takes."""
    return 2 if name in BINARY else 3


@st.composite
def labelled_rows(draw: st.DrawFn, *, k: int) -> Rows:
    """Return 4 to 30 rows, some with ties, zeros and certainty, and labels of two classes."""
    n = draw(st.integers(4, 30))
    value = st.one_of(
        st.sampled_from([0.0, -1.0, -3.0, -np.inf, -9999.0]), st.floats(-12.0, 0.0, width=32)
    )
    x = np.array(draw(st.lists(st.lists(value, min_size=k, max_size=k), min_size=n, max_size=n)))
    x[np.isneginf(x).all(axis=1)] = 0.0
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    assume(len(np.unique(y)) > 1)
    return x, y


def probabilities(calibrator: Calibrator, log_p: ArrayLike) -> Floats:
    """Return calibrated probabilities."""
    return np.exp(calibrator.apply(log_p))


@of_any_method
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_result_is_a_distribution_over_the_options(name: str, data: st.DataObject) -> None:
    """Whatever the labels and the answers: zeros, ties, certainty on the wrong option."""
    k = options_of(name)
    log_p, y = data.draw(labelled_rows(k=k))

    p = probabilities(ALL[name](log_p, y), log_p)

    assert p.shape == log_p.shape
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@of_any_method
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_weights_are_repetition(name: str, data: st.DataObject) -> None:
    """A row of weight 3 is three rows; a row of weight 0 is none."""
    k = options_of(name)
    log_p, y = data.draw(labelled_rows(k=k))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    assume(len(np.unique(y[times > 0])) > 1)

    weighted = ALL[name](log_p, y, weights=times)
    repeated = ALL[name](np.repeat(log_p, times, axis=0), np.repeat(y, times))

    np.testing.assert_allclose(
        probabilities(weighted, log_p), probabilities(repeated, log_p), atol=1e-6
    )


@of_any_method
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    """Labels arrive in any order."""
    log_p, y = simulated(200, options_of(name), seed=1, temperature=2.0)
    shuffled = np.random.default_rng(2).permutation(200)

    there, here = ALL[name](log_p[shuffled], y[shuffled]), ALL[name](log_p, y)

    np.testing.assert_allclose(probabilities(there, log_p), probabilities(here, log_p), atol=1e-7)


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"proportional-odds"}))
def test_the_order_of_options_does_not_matter(name: str) -> None:
    """Renaming the options renames the result; levels of a score alone have an order."""
    k = options_of(name)
    log_p, y = simulated(200, k, seed=3, temperature=2.0, bias=range(k))

    turned = ALL[name](log_p[:, ::-1], k - 1 - y)

    np.testing.assert_allclose(
        probabilities(turned, log_p[:, ::-1])[:, ::-1],
        probabilities(ALL[name](log_p, y), log_p),
        atol=1e-7,
    )


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"matrix", "vector"}))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_of_two_options_the_surer_answer_stays_the_surer(name: str, data: st.DataObject) -> None:
    """Whatever the labels, for answers against them are an error of the question.

    Scales of vector and matrix scaling are drawn to 1 but may fall below 0.
    """
    calibrator = ALL[name](*data.draw(labelled_rows(k=2)))
    odds = np.linspace(-12.0, 12.0, 49)

    log_p = np.stack([-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)], axis=1)
    p = probabilities(calibrator, log_p)[:, 0]

    assert (np.diff(p) >= -1e-12).all()


@of_any_method
@pytest.mark.parametrize("right", [0.0, 0.5, 1.0])
def test_certain_answers_leave_a_distribution(name: str, right: float) -> None:
    """Whether they are never right, by chance, or always: a slope has little to learn from that."""
    said, y = np.arange(40) % 2, np.arange(40) % 4 // 2
    said = said if right == 0.5 else y if right == 1.0 else 1 - y
    log_p = np.where(np.arange(2) == said[:, None], 0.0, -np.inf)

    p = probabilities(ALL[name](log_p, y), log_p)

    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)


@of_any_method
def test_answers_that_are_all_the_same_become_the_rates_or_stay(name: str) -> None:
    """Of even answers and even labels nothing moves."""
    log_p, y = np.zeros((40, 2)), np.arange(40) % 2

    np.testing.assert_allclose(probabilities(ALL[name](log_p, y), log_p), 0.5, atol=1e-9)


@of_any_method
def test_json_gives_back_the_same_bits(name: str) -> None:
    """An artefact read elsewhere answers exactly as it did here."""
    log_p, y = simulated(300, options_of(name), seed=4, temperature=1.7)
    calibrator = ALL[name](log_p, y)

    read = CALIBRATORS.validate_json(calibrator.model_dump_json())

    assert read == calibrator
    np.testing.assert_array_equal(read.apply(log_p), calibrator.apply(log_p))


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"proportional-odds"}))
def test_calibrated_answers_stay_nearly_as_they_are(name: str) -> None:
    """With 20 000 rows of a calibrated model there is little to learn.

    Proportional odds re-learns the levels from their mean alone, so it makes no such promise.
    """
    log_p, y = simulated(20_000, options_of(name), seed=5)

    moved = probabilities(ALL[name](log_p, y), log_p) - probabilities(
        identity(log_p.shape[1]), log_p
    )

    assert np.abs(moved).mean() < 0.02


@of_any_method
def test_one_row_and_no_row_can_be_calibrated(name: str) -> None:
    """The classifier asks for one answer at a time; it is the same as in a batch."""
    log_p, y = simulated(100, options_of(name), seed=6)
    calibrator = ALL[name](log_p, y)

    alone = np.concatenate([calibrator.apply(row[None]) for row in log_p])
    np.testing.assert_array_equal(alone, calibrator.apply(log_p))
    assert calibrator.apply(log_p[:0]).shape == (0, log_p.shape[1])


@of_any_method
def test_another_number_of_options_is_refused(name: str) -> None:
    """A calibrator holds for one question."""
    log_p, y = simulated(100, options_of(name), seed=6)

    with pytest.raises(CalibrationError, match="has 4 options and this calibrator was fitted on"):
        ALL[name](log_p, y).apply(np.zeros((1, 4)))


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"venn-abers"}))
def test_one_class_of_labels_is_refused(name: str) -> None:
    """A slope learned from one class would only say "more"."""
    log_p, _ = simulated(30, options_of(name), seed=7)

    with pytest.raises(CalibrationError, match="y names 1 of"):
        ALL[name](log_p, np.ones(30, dtype=int))


@of_any_method
def test_one_option_is_refused(name: str) -> None:
    """Its probability is always one."""
    with pytest.raises(CalibrationError, match="one option has nothing to calibrate"):
        ALL[name](np.zeros((30, 1)), np.zeros(30, dtype=int))


@of_any_method
def test_no_rows_are_refused(name: str) -> None:
    """No label, no calibrator."""
    with pytest.raises(CalibrationError, match="in 0 rows"):
        ALL[name](np.zeros((0, options_of(name))), [])


@pytest.mark.parametrize("name", sorted(BINARY))
def test_a_binary_method_refuses_more_options(name: str) -> None:
    """The message names the methods that take them."""
    log_p, y = simulated(30, 3, seed=8)

    with pytest.raises(CalibrationError, match="takes two"):
        BINARY[name](log_p, y)


@pytest.mark.parametrize("floor", [0.0, 0.5, -1.0, float("nan")])
def test_a_floor_that_is_no_small_probability_is_refused(floor: float) -> None:
    """The floor is a probability, not a log."""
    with pytest.raises(CalibrationError, match=r"floor must (lie between|be a finite number)"):
        fit_temperature([[0.0, -1.0]] * 2, [0, 1], floor=floor)


def test_a_fit_says_what_it_was_fitted_on() -> None:
    """The options come from the question, so an unseen one is counted with zero."""
    log_p = [[0.0, -np.inf, -2.0], [-np.inf, 0.0, -2.0], [-1.0, -1.0, -1.0]]

    facts = fit_temperature(log_p, [0, 0, 1], weights=[1.0, 2.0, 3.0]).fitted_on

    assert (facts.n, facts.k, facts.label_weights) == (3, 3, (3.0, 3.0, 0.0))
    assert (facts.floor, facts.truth_below_floor) == (1e-6, 1)


def test_a_calibrator_cannot_be_changed() -> None:
    """What was fitted is what is applied."""
    calibrator = fit_temperature([[0.0, -1.0]] * 2, [0, 1])

    with pytest.raises(ValidationError, match="frozen"):
        setattr(calibrator, "temperature", 1.0)  # noqa: B010 - a checker forbids the plain form


def test_identity_keeps_zeros() -> None:
    """Nothing is raised to a floor where nothing was fitted."""
    assert np.isneginf(identity(2).apply([[0.0, -np.inf]])[0, 1])


def test_a_chain_is_its_steps_in_turn() -> None:
    """A prior without labels first, then a temperature."""
    log_p, y = simulated(100, 3, seed=9, temperature=2.0, bias=[1.0, 0.0, 0.0])
    first = fit_temperature_bias(log_p, y)
    second = fit_temperature(first.apply(log_p), y)

    both = chain(first, second)

    in_turn = second.apply(first.apply(log_p))
    np.testing.assert_allclose(both.apply(log_p), in_turn, rtol=0.0, atol=1e-13)
    assert CALIBRATORS.validate_json(both.model_dump_json()) == both


@pytest.mark.parametrize("steps", [[], [2, 3]], ids=["none", "two and three options"])
def test_a_chain_of_different_questions_is_refused(steps: list[int]) -> None:
    """Every step takes what the one before gives."""
    with pytest.raises(CalibrationError, match="one number of options"):
        chain(*(identity(k) for k in steps))


CURVE = {"x": [0.1, 0.9], "value": [0.2, 0.8]}
STEPS = {"p0_from": [0.0], "p0": [0.5], "p1_up_to": [0.0], "p1": [0.5]}
OF_THREE = {"fitted_on": {"n": 9, "k": 3}, "method": "temperature", "temperature": 1.0}
SQUARE = [[1.0, 0.0], [0.0, 1.0]]
CONTRADICTIONS: list[tuple[str, dict[str, object], str]] = [
    ("temperature-bias", {"temperature": 1.0, "bias": [0, 0, 0]}, "bias must have 2"),
    ("vector", {"first": OF_THREE, "scale": [1, 1], "bias": [0, 0]}, "first was fitted on 3"),
    ("vector", {"scale": [1], "bias": [0, 0]}, "scale must have 2 entries, got 1"),
    ("vector", {"scale": [1, 1], "bias": [0]}, "bias must have 2 entries, got 1"),
    ("matrix", {"matrix": SQUARE[:1], "bias": [0, 0]}, "matrix must have 2 entries, got 1"),
    ("matrix", {"matrix": [[1, 0], [0]], "bias": [0, 0]}, r"matrix\[1\] must have 2"),
    ("matrix", {"matrix": SQUARE, "bias": [0]}, "bias must have 2 entries, got 1"),
    ("matrix", {"first": OF_THREE, "matrix": SQUARE, "bias": [0, 0]}, "first was fitted on 3"),
    ("isotonic", {"curves": [CURVE, CURVE]}, "curves must have 1 entries, got 2"),
    ("isotonic", {"curves": [CURVE | {"value": [0.1]}]}, "value must have 2 entries, got 1"),
    ("isotonic", {"curves": [CURVE | {"x": [0.9, 0.1]}]}, "x must rise, got 0.9 and then 0.1"),
    ("isotonic", {"curves": [CURVE | {"value": [0.9, 0.1]}]}, "value must rise"),
    ("isotonic", {"curves": [CURVE | {"value": [0.9, 1.1]}]}, r"value must lie in \[0, 1\]"),
    ("isotonic", {"curves": [{"x": [], "value": []}]}, "at least 1 item"),
    ("isotonic-mean", {"means": {"n": 9, "curve": CURVE | {"x": [1, 1]}}}, "x must rise"),
    ("venn-abers", {"pairs": []}, "pairs must have 1 entries, got 0"),
    ("venn-abers", {"pairs": [STEPS | {"p0": []}]}, "p0 must have 1 entries, got 0"),
    ("venn-abers", {"pairs": [STEPS | {"p1": [0.1, 0.2]}]}, "p1 must have 1 entries, got 2"),
    ("venn-abers", {"pairs": [STEPS | {"p1": [0.0]}]}, "p1 must be above 0"),
    ("venn-abers", {"pairs": [STEPS | {"p0": [1.0]}]}, "1 - p0 must be above 0"),
    ("venn-abers", {"pairs": [STEPS | {"p1": [1.5]}]}, r"p1 must lie in \[0, 1\]"),
    ("batch-prior", {"options": ["a", "b"], "prior": [1.0]}, "prior must have 2"),
    ("batch-prior", {"options": ["a"], "prior": [0.5, 0.5]}, "options must have 2"),
    ("batch-prior", {"options": ["a", "b"], "prior": [1.0, 0.0]}, "prior must be above 0"),
    ("em-shift", {"ratios": [1.0, 1.0, 1.0]}, "ratios must have 2 entries, got 3"),
    ("bbse-shift", {"ratios": [1.0, 0.0]}, "ratios must be above 0, got 0"),
    ("chain", {"steps": [OF_THREE]}, r"steps\[0\] was fitted on 3 options and the whole on 2"),
]


@pytest.mark.parametrize(("method", "fields", "message"), CONTRADICTIONS)
def test_a_calibrator_that_contradicts_itself_cannot_be_read(
    method: str, fields: dict[str, object], message: str
) -> None:
    """Of two options: it would fail, or give nan, at the first answer."""
    body: dict[str, object] = {"method": method, "fitted_on": {"n": 9, "k": 2, "floor": 1e-6}}
    if method in ("vector", "matrix"):
        body["first"] = OF_THREE | {"fitted_on": {"n": 9, "k": 2}}

    with pytest.raises(ValidationError, match=message):
        CALIBRATORS.validate_json(json.dumps(body | fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"thresholds": [1, 0]}, "thresholds must rise, got 1.0 and then 0.0"),
        ({"thresholds": [0]}, "thresholds must have 2 entries, got 1"),
        ({"values": [0, 1]}, "values must have 3 entries, got 2"),
        ({"values": [0, 1, 1]}, "values must rise"),
    ],
)
def test_levels_out_of_order_cannot_be_read(fields: dict[str, object], message: str) -> None:
    """Between thresholds that do not rise there is no probability."""
    body = {"method": "proportional-odds", "fitted_on": {"n": 9, "k": 3}, "slope": 1.0}
    whole = {"values": [0, 1, 2], "thresholds": [0, 1]}
    assert (
        CALIBRATORS.validate_json(json.dumps(body | whole)).apply([[0.0, 0.0, 0.0]]).shape[1] == 3
    )

    with pytest.raises(ValidationError, match=message):
        CALIBRATORS.validate_json(json.dumps(body | whole | fields))


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_a_map_of_log_odds_is_of_two_options(method: str) -> None:
    """With a third it has nothing to say of it."""
    fields = {"slope": 1, "intercept": 0} if method == "platt" else {"a": 1, "b": 1, "c": 0}

    with pytest.raises(ValidationError, match="is of 2 options, got k=3"):
        CALIBRATORS.validate_json(
            json.dumps({"method": method, "fitted_on": {"n": 9, "k": 3, "floor": 1e-6}, **fields})
        )


def test_label_weights_are_one_per_option() -> None:
    """They are what each option's labels weigh."""
    with pytest.raises(ValidationError, match="label_weights must have 2 entries, got 3"):
        FittedOn(n=3, k=2, label_weights=(1.0, 1.0, 1.0))


def test_an_unknown_method_cannot_be_read() -> None:
    """The set of calibrators is closed."""
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        CALIBRATORS.validate_json('{"method": "magic"}')


def test_importing_calibrators_loads_no_scipy() -> None:
    """A classifier that only applies a calibrator should not wait for it."""
    code = (
        "import sys, classify.calibration.auto, classify.calibration.artefact_file; "
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("method", "fields", "place"),
    [
        ("temperature", {"temperature": 5e-324}, "temperature.temperature"),
        ("temperature-bias", {"temperature": 1, "bias": [1e308, 0]}, "temperature-bias.bias.0"),
        ("platt", {"slope": 1e308, "intercept": 0}, "platt.slope"),
        ("platt", {"slope": 1, "intercept": -1e308}, "platt.intercept"),
        ("beta", {"a": 1e308, "b": 1, "c": 0}, "beta.a"),
    ],
)
def test_parameters_that_leave_the_range_of_numbers_cannot_be_read(
    method: str, fields: dict[str, object], place: str
) -> None:
    """Times a log-probability they would be infinite, and the answer nan."""
    body = {"method": method, "fitted_on": {"n": 9, "k": 2, "floor": 1e-6}, **fields}

    with pytest.raises(ValidationError) as caught:
        CALIBRATORS.validate_json(json.dumps(body))

    assert place == ".".join(str(part) for part in caught.value.errors()[0]["loc"])


def test_a_map_that_multiplies_logs_has_a_floor_under_them() -> None:
    """The log-odds of two answers that are both impossible are no number."""
    body = {"method": "platt", "fitted_on": {"n": 9, "k": 2}, "slope": 1, "intercept": 0}

    with pytest.raises(ValidationError, match="floor of fitted_on must be above 0"):
        CALIBRATORS.validate_json(json.dumps(body))


def test_what_a_temperature_makes_impossible_is_said_without_a_warning() -> None:
    """A service's -1e308 at T = 0.5, and a uniform share near nothing."""
    body = {"method": "temperature", "fitted_on": {"n": 9, "k": 2}, "temperature": 0.5}

    for uniform in (0.0, 5e-324):
        calibrator = CALIBRATORS.validate_json(json.dumps(body | {"uniform": uniform}))
        assert calibrator.apply([[0.0, -1e308]])[0, 0] == 0.0
