"""What cells show of calibrators, metrics, agreement, sets, policies and pictures."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import numpy as np
import pytest

from classify.answers import BooleanAnswer, ScoreAnswer
from classify.calibration import (
    CalibrationArtefact,
    ConfidencePolicy,
    CostPolicy,
    Fingerprint,
    SetPolicy,
    alt_test,
    bias_report,
    calibrate,
    calibrate_results,
    chain,
    compare,
    confusion,
    control_selective_risk,
    fit_batch_prior,
    fit_beta,
    fit_isotonic,
    fit_matrix,
    fit_platt,
    fit_proportional_odds,
    fit_sets_by_class,
    fit_temperature,
    fit_temperature_bias,
    fit_vector,
    fit_venn_abers,
    identity,
    judge_report,
    labelled_results,
    labels_for_rate,
    log_loss,
    make_artefact,
    metrics,
    reliability_diagram,
    risk_coverage,
    true_rate,
    wilson,
)
from classify.calibration.arrays import Floats, Ints
from classify.calibration.fitted import Fitted
from classify.calibration.rated_results import calibrate_means
from classify.calibration.svg import reliability_svg
from classify.display.html_style import stylesheet
from classify.display.notebook import Shown
from classify.evidence import Evidence
from classify.questions import Boolean, Score
from classify.results import Result
from tests.hostile_texts import HOSTILE
from tests.notebook_cells import SVG, tree, words


@cache
def rows(n: int = 120, k: int = 3) -> tuple[Floats, Ints]:
    """Return log-probabilities that are too sure, and labels."""
    random = np.random.default_rng(0)
    truth = random.normal(0.0, 1.5, (n, k))
    p = np.exp(truth) / np.exp(truth).sum(axis=1, keepdims=True)
    labels = (p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return 2.0 * truth, labels.astype(np.int64)


def ratings() -> tuple[list[int | str | None], list[int | str | None]]:
    """Return what two raters said of 60 items."""
    random = np.random.default_rng(1)
    first = random.integers(0, 3, 60)
    second = np.where(random.random(60) < 0.7, first, random.integers(0, 3, 60))
    return [*map(int, first)], [*map(int, second)]


def artefact(
    name: str = "topic", options: tuple[str, ...] = ("a", "b", "c")
) -> CalibrationArtefact:
    """Return an artefact of 120 rows."""
    made = Fingerprint(
        question="q", options=options, model="model-1", readout="letters", orders=2,
        prompt_template="1", library="0",
    )  # fmt: skip
    return make_artefact(calibrate(*rows()), made, name=name)


@cache
def calibrators() -> dict[str, Fitted]:
    """Return one of each kind."""
    three, two = rows(), rows(k=2)
    return {
        "identity": identity(3),
        "temperature": fit_temperature(*three),
        "temperature-bias": fit_temperature_bias(*three),
        "vector": fit_vector(*three),
        "matrix": fit_matrix(*three),
        "platt": fit_platt(*two),
        "beta": fit_beta(*two),
        "isotonic": fit_isotonic(*three),
        "venn-abers": fit_venn_abers(*two),
        "proportional-odds": fit_proportional_odds(*three),
        "batch-prior": fit_batch_prior(three[0], ["a", "b", "c"]),
        "chain": chain(fit_temperature(*three), fit_vector(*three)),
        "one option": identity(1),
        "255 options": identity(255),
    }


@pytest.mark.parametrize("name", calibrators())
def test_a_calibrator_shows_what_it_was_fitted_on(name: str) -> None:
    """Whatever its method, and however many parameters it has."""
    calibrator = calibrators()[name]

    facts = calibrator.fitted_on
    assert f"{facts.n} labelled rows, {facts.k} options" in words(calibrator)


def test_a_calibrator_shows_what_becomes_of_probabilities() -> None:
    """At T = 0.5 odds are squared: 0.9 becomes 0.81 / 0.82."""
    halved = fit_temperature(*rows(k=2)).model_copy(update={"temperature": 0.5, "uniform": 0.0})

    cells = ["".join(cell.itertext()) for cell in tree(halved).iter("td")]

    assert cells[-5:] == ["1.2 %", "15.5 %", "50.0 %", "84.5 %", "98.8 %"]


def test_an_artefact_says_where_it_holds_and_what_was_tried() -> None:
    """The digest too, which answers name in their evidence."""
    shown = artefact()

    seen = words(shown)

    for text in ("topic", "model-1", "letters", shown.digest, "identity", "log loss", "120 rows"):
        assert text in seen


def test_calibrated_results_show_reliability_before_and_after() -> None:
    """As a picture, beside the numbers on rows left out."""
    random = np.random.default_rng(0)
    results = [
        Result(
            id=str(k), index=k, key=None, labels={"urgent": bool(random.random() < 0.5)},
            answers={"urgent": BooleanAnswer(probability=float(p), evidence=Evidence())},
        )
        for k, p in enumerate(random.random(60))
    ]  # fmt: skip
    (answers,) = labelled_results(results, {"urgent": Boolean()}).values()

    shown = calibrate_results("urgent", answers)

    picture = tree(shown).find(f".//{SVG}svg")
    assert picture is not None and picture.get("role") == "img"
    for text in ("60 labelled rows used of 60", "before, n=60", "smooth ECE", "smECE("):
        assert text in words(shown)


def test_calibrated_means_show_their_errors_before_and_after() -> None:
    """In levels, each with its interval."""
    p = rows()[0] - np.logaddexp.reduce(rows()[0], axis=1, keepdims=True)
    results = [
        Result(
            id=str(k), index=k, key=None, labels={"stars": 0.5 + k % 3 / 2},
            answers={
                "stars": ScoreAnswer(
                    score=q[1] + 2 * q[2], probabilities=dict(zip("012", q, strict=True))
                )
            },
        )
        for k, q in enumerate(np.exp(p).tolist())
    ]  # fmt: skip
    stars = Score(criteria=["poor", "fair", "good"])
    (answers,) = labelled_results(results, {"stars": stars}).values()

    shown = calibrate_means("stars", answers)

    for text in (str(shown.before.mae), str(shown.after.mae), shown.used, "isotonic-mean"):
        assert text in words(shown)


@pytest.mark.parametrize("kind", ["choice", "score", "boolean"])
def test_metrics_show_every_number_with_its_rule(
    kind: Literal["choice", "score", "boolean"],
) -> None:
    """As `print` would, line by line."""
    found = metrics(*rows(k=2), seed=0, kind=kind)

    seen = words(found)

    assert all(str(value) in seen for _, value in found.named() if value is not None)


@cache
def agreement() -> dict[str, tuple[Shown, str]]:
    """Return reports on raters, each with a text that its card must have."""
    first, second = ratings()
    two = judge_report({"ann": first, "bob": second}, levels=[0, 1, 2], ordered=False)
    people = [second, second, second]
    kappa = two.kappa
    assert kappa is not None
    return {
        "two raters": (two, str(kappa)),
        "confusion": (confusion(first, second, levels=[0, 1, 2]), "60 used of 60"),
        "kappa": (kappa, "60 used of 60"),
        "test": (alt_test(first, people, levels=[0, 1, 2], epsilon=0.2), "60 used of 60"),
        "rate": (true_rate([0, 1] * 30, [0, 1] * 30, [1] * 50, drawn="at random"), "used of 110"),
        "comparison": (compare([0, 1] * 30, [1, 1] * 30, seed=0, resamples=99), "60 used of 60"),
        "measurement": (wilson(3, 10), "n=10"),
        "loss": (log_loss(*rows()), "n=120"),
        "labels": (labels_for_rate(rate=0.7, half_width=0.05), "labels"),
        "bias": (bias_report(rows()[0], seed=0, item=np.arange(120)), "order: not looked at"),
    }


@pytest.mark.parametrize("name", agreement())
def test_reports_show_their_numbers_with_what_they_rest_on(name: str) -> None:
    """Each as `print` shows it."""
    shown, text = agreement()[name]

    assert text in words(shown)


def test_of_a_confusion_of_many_levels_the_commonest_pairs_are_shown() -> None:
    """A table of 255 columns is none."""
    levels = [*range(255)]
    given: list[int | str | None] = [*map(int, np.random.default_rng(0).integers(0, 255, 3000))]

    shown = confusion(given, [*given[1:], given[0]], levels=levels)

    assert re.search(r"… \d+ more pairs of levels", words(shown))


def test_sets_and_policies_show_their_promise() -> None:
    """Word for word: it is what a policy is for."""
    sets = fit_sets_by_class(*rows())
    risk = control_selective_risk(np.linspace(0, 1, 100), np.zeros(100), alpha=0.1)
    costs = CostPolicy(costs=((0.0, 1.0), (5.0, 0.0)), escalation_cost=0.5)

    assert str(sets) in words(sets)
    assert str(risk) in words(risk) and "100.0 %" in words(risk)
    for policy in (SetPolicy.from_sets(sets), ConfidencePolicy.from_risk(risk), costs):
        assert policy.guarantee in words(policy)


def test_pictures_are_shown_with_their_numbers() -> None:
    """For who sees no picture."""
    p, y = np.linspace(0.01, 0.99, 100), np.arange(100) % 2
    diagram, curve = reliability_diagram(p, y, seed=0, draws=99), risk_coverage(p, y)

    for shown in (diagram, curve):
        assert tree(shown).find(f".//{SVG}svg") is not None
    assert f"{diagram.points[0].probability:.3f}" in words(diagram)
    assert "area" in words(curve)


def test_a_card_colours_every_part_of_a_picture() -> None:
    """Else a notebook in the dark would have a picture in black ink on it."""
    picture = reliability_svg(reliability_diagram([0.1, 0.9], [0, 1], seed=0, draws=9))
    light = picture.split("@media")[0]

    coloured = set(re.findall(r"\.calibration-picture \.(\w+)\{[^}]*(?:fill|stroke):#", light))

    assert coloured and coloured <= set(re.findall(r"classify-card \.(\w+)", stylesheet()))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_options_are_text(name: str) -> None:
    """They come from the user's question, and from people's labels."""
    text = HOSTILE[name].replace("\ufffe", "").replace("\uffff", "") + "x"
    first, second = ratings()
    levels: list[int | str] = [0, 1, 2, text]
    shown = [artefact(text, (text, "b", "c")), confusion(first, second, levels=levels)]

    for each in shown:
        assert not {"script", "img", "a", "h1"} & {element.tag for element in tree(each).iter()}
