"""Weights whose sum is that of few rows: a fit takes them for few rows, and says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.auto import calibrate
from classify.calibration.bias import fit_temperature_bias, fit_vector
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.fitted import CalibrationWarning, Fitted
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.labelled import little_weight
from classify.calibration.matrix import fit_matrix
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.temperature import fit_temperature, fit_temperature_mixture
from classify.calibration.venn_abers import fit_venn_abers

FITS: dict[str, Callable[..., Fitted]] = {
    "beta": fit_beta,
    "isotonic": fit_isotonic,
    "matrix": fit_matrix,
    "platt": fit_platt,
    "proportional odds": fit_proportional_odds,
    "temperature": fit_temperature,
    "temperature and bias": fit_temperature_bias,
    "temperature mixture": fit_temperature_mixture,
    "vector": fit_vector,
    "venn-abers": fit_venn_abers,
}


def sharp(n: int) -> tuple[Floats, Ints]:
    """Return answers to yes or no at twice the right sharpness, with labels."""
    random = np.random.default_rng(0)
    truth = log_probabilities(random.normal(0.0, 1.3, (n, 2)))
    return 2.0 * truth, (random.random(n) > np.exp(truth[:, 0])).astype(np.int64)


@pytest.mark.parametrize("name", sorted(FITS))
def test_a_fit_says_once_how_few_rows_its_weights_are(name: str) -> None:
    """At the line that called it; scaled to the number of rows they are taken for all of them."""
    log_p, y = sharp(200)
    share = np.full(200, 1.0 / 200.0)

    with pytest.warns(CalibrationWarning) as said:
        FITS[name](log_p, y, weights=share)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = FITS[name](log_p, y, weights=200.0 * share)
        FITS[name](log_p[:15], y[:15], weights=share[:15])

    (only,) = said
    assert "the weights add up to 1 and count as much as 1 rows of weight 1" in str(only.message)
    assert "add up to the number of labelled rows, 200" in str(only.message)
    assert only.filename == __file__
    assert whole == FITS[name](log_p, y)


def test_where_only_ratios_count_nothing_is_said() -> None:
    """Hard targets and no ridge: the scale of the weights moves nothing."""
    log_p, y = sharp(200)
    share = np.full(200, 1.0 / 200.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        temperature = fit_temperature(log_p, y, weights=share, targets="hard")
        platt = fit_platt(log_p, y, weights=share, targets="hard", ridge=0.0)
        fit_isotonic(log_p, y, weights=share, pseudo_count=0.0)

    assert temperature.temperature == pytest.approx(
        fit_temperature(log_p, y, targets="hard").temperature
    )
    assert platt.slope == pytest.approx(fit_platt(log_p, y, targets="hard", ridge=0.0).slope)


def test_calibrate_says_it_once_and_keeps_it_in_the_report() -> None:
    """Not for each fold, and not where nothing is fitted."""
    log_p, y = sharp(200)

    with pytest.warns(CalibrationWarning) as said:
        found = calibrate(log_p, y, weights=np.full(200, 0.05))
    with pytest.warns(CalibrationWarning, match="15 labelled items are too few") as few:
        calibrate(log_p[:15], y[:15], weights=np.full(15, 0.05))

    (only,) = said
    assert only.filename == __file__
    assert str(only.message) == found.report.notes[0]
    assert found.report.notes[0].startswith("the weights add up to 10 and")
    assert len(few) == 1


def test_weights_that_add_up_to_twenty_are_enough() -> None:
    """As 20 labels of weight 1 are, above which nobody is told to label more."""
    log_p, y = sharp(200)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_temperature(log_p, y, weights=np.full(200, 0.1))

    assert not found.at_bound


def test_shares_of_a_row_that_add_up_to_enough_rows_are_enough() -> None:
    """Twenty items read several times: nobody gave the weights that rounding leaves below 20."""
    weights = np.full(60, 1.0 / 3.0 - 1e-15)
    assert weights.sum() < 20.0

    assert little_weight(weights) == ""
    assert "the weights add up to 19.9" in little_weight(weights * 0.995)
