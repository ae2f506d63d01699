"""The front door picks the estimator that fits, says why, and warns."""

from __future__ import annotations

import numpy as np
import pytest

from classify.calibration.arrays import Floats
from classify.calibration.true_rates import Drawn, true_rate
from classify.errors import CalibrationError


def items(n: int, *, seed: int = 0, help: float = 0.5) -> tuple[Floats, Floats]:
    """Return human labels at a rate of 0.7 and a judge's scores; help: how much they tell."""
    random = np.random.default_rng(seed)
    truth = (random.random(n) < 0.7).astype(np.float64)
    judge = 0.25 + help * truth + random.normal(0.0, 0.2, n)
    return truth, np.clip(judge, 0.0, 1.0)


@pytest.mark.parametrize(
    ("labels", "verdicts", "drawn", "rule"),
    [
        (40, False, "at random", "labels only, Wilson"),
        (120, False, "at random", "PPI++, Wilson at"),
        (120, True, "at random", "verdict-stratified, MOVER"),
        (40, True, "by verdict", "verdict-stratified, MOVER"),
        (120, False, "elsewhere", "Rogan-Gladen, MOVER"),
        (120, False, "unknown", "PPI++, Wilson at"),
    ],
    ids=["few labels", "graded", "verdicts", "by verdict", "elsewhere", "unknown"],
)
def test_the_estimator_fits_the_labels(
    labels: int, verdicts: bool, drawn: Drawn, rule: str
) -> None:
    """And says how many labels of how many items it used."""
    truth, judge = items(600)
    judge = (judge >= 0.5).astype(np.float64) if verdicts else judge

    found = true_rate(truth[:labels], judge[:labels], judge[labels:], drawn=drawn)

    assert found.estimate.rule.startswith(rule)
    assert (found.estimate.n, found.estimate.total) == (labels, 600)
    assert found.estimate.low <= 0.7 <= found.estimate.high
    assert found.reason


def test_the_result_is_a_sentence() -> None:
    """As people will quote it."""
    truth, judge = items(600)

    found = true_rate(truth[:120], judge[:120], judge[120:], drawn="at random")

    value, low, high = (
        f"{100 * x:.0f}" for x in (found.estimate.value, found.estimate.low, found.estimate.high)
    )
    assert found.sentence == (
        f"the pass rate is {value} % [{low}, {high}] after correcting the judge with "
        f"120 human labels"
    )
    assert str(found).startswith(found.sentence)
    assert "120 used of 600" in str(found)


def test_rare_yes_have_the_digits_that_the_interval_shows() -> None:
    """10 of 20,000 labels: statsmodels' Wilson interval is 0.0272 % to 0.0920 %."""
    human, judge = np.zeros(20_000), np.zeros(20_000)
    human[:10] = judge[-12:] = 1.0

    found = true_rate(human, judge, np.zeros(20_000), drawn="at random")

    assert found.sentence == "the pass rate is 0.05 % [0.03, 0.09] from 20000 human labels alone"
    assert "the judge alone says 0.03 %" in str(found)


def test_few_labels_speak_alone_and_the_sentence_says_so() -> None:
    """Below fifty the correction is less sure than it looks."""
    truth, judge = items(600)

    found = true_rate(truth[:30], judge[:30], judge[30:], drawn="at random", name="the share")

    assert found.sentence.endswith("from 30 human labels alone")
    assert found.sentence.startswith("the share is")


def test_a_judge_that_tells_nothing_is_not_used() -> None:
    """A correlation within 1/sqrt(n - 2) is what luck shows."""
    truth, judge = items(600, help=0.0, seed=4)

    found = true_rate(truth[:100], judge[:100], judge[100:], drawn="at random")

    assert found.estimate.rule == "labels only, Wilson"
    assert "no more than 100 labels can show by luck" in found.reason


def test_labels_not_known_to_be_random_are_warned_of() -> None:
    """Every time."""
    truth, judge = items(600)

    found = true_rate(truth[:120], judge[:120], judge[120:], drawn="unknown")

    assert "not known to be drawn at random" in found.warnings[0]
    assert "warning: the labels are not known" in str(found)


def test_labels_that_do_not_look_random_are_warned_of() -> None:
    """Said to be random, but the judge's surest passes were labelled."""
    truth, judge = items(600)
    order = np.argsort(-judge)
    truth, judge = truth[order], judge[order]

    found = true_rate(truth[:120], judge[:120], judge[120:], drawn="at random")

    assert "do not look drawn at random" in found.warnings[0]


@pytest.mark.parametrize("chosen", ["least sure", "most sure", "half of them least sure"])
def test_labels_chosen_by_how_sure_the_judge_is_are_warned_of(chosen: str) -> None:
    """Of a symmetric pool their mean is that of the others; their distance from 1/2 is not."""
    random = np.random.default_rng(4)
    truth = (random.random(3000) < 0.5).astype(np.float64)
    judge = 1 / (1 + np.exp(-(3.0 * truth - 1.5 + random.normal(0.0, 1.5, 3000))))
    order = np.argsort(np.abs(judge - 0.5))
    if chosen == "most sure":
        order = order[::-1]
    elif chosen != "least sure":
        order = np.concatenate([order[:75], random.permutation(order[75:])])
    truth, judge = truth[order], judge[order]

    found = true_rate(truth[:150], judge[:150], judge[150:], drawn="at random")

    assert abs(judge[:150].mean() - judge[150:].mean()) < 0.05
    assert "the judge's scores lie" in found.warnings[0]
    assert "from 0.5 on them" in found.warnings[0]


@pytest.mark.parametrize("shape", [(0.5, 0.5), (8.0, 1.0), (1.0, 20.0)])
def test_random_labels_are_not_warned_of(shape: tuple[float, float]) -> None:
    """At most 1 % of draws: 300 draws of an alarm in a hundred show more than nine in 0.1 %."""
    random = np.random.default_rng(9)
    alarms = 0

    for _ in range(300):
        judge = random.beta(*shape, 400)
        truth = (random.random(60) < judge[:60]).astype(np.float64)
        alarms += len(true_rate(truth, judge[:60], judge[60:], drawn="at random").warnings)

    assert alarms <= 9


def test_a_judge_that_hardly_tells_is_warned_of() -> None:
    """Sensitivity plus specificity minus one below 0.2 makes the correction wild."""
    truth, judge = items(600, help=0.04, seed=5)

    found = true_rate(truth[:300], judge[:300], judge[300:], drawn="elsewhere")

    assert any("hardly tells yes from no" in warning for warning in found.warnings)


def test_labels_by_verdict_need_both_verdicts() -> None:
    """Of the other verdict nothing is known."""
    with pytest.raises(CalibrationError, match="no labelled item has the verdict no: label some"):
        true_rate([1, 0, 1], [1, 1, 1], [1, 0], drawn="by verdict")


@pytest.mark.parametrize("verdict", [0.0, 1.0], ids=["no", "yes"])
def test_a_judge_of_one_verdict_leaves_labels_by_verdict_to_speak_alone(verdict: float) -> None:
    """There is no item of the other verdict to label; statsmodels' Wilson interval of 40 of 60."""
    found = true_rate([1, 0, 1] * 20, [verdict] * 60, [verdict] * 100, drawn="by verdict")

    ends = (found.estimate.low, found.estimate.high)
    assert ends == pytest.approx((0.5405687, 0.7727074), abs=1e-6)
    assert found.estimate.rule.startswith("labels only")


def test_labels_from_elsewhere_need_both_answers() -> None:
    """Sensitivity and specificity."""
    with pytest.raises(CalibrationError, match="must hold both yes and no"):
        true_rate([1, 1, 1], [1, 0, 1], [1, 0], drawn="elsewhere")


def test_raters_who_tie_leave_the_rate_where_it_is() -> None:
    """A tie is half a yes: 8.5 of 10 labelled passes are yes, and 1.5 of 10 fails."""
    human = [1.0] * 8 + [0.5, 0.0] + [0.0] * 8 + [0.5, 1.0]
    judge = [1.0] * 10 + [0.0] * 10

    stratified = true_rate(human, judge, [1.0] * 30, drawn="by verdict").estimate
    alone = true_rate(human, judge, [1.0] * 30, drawn="at random").estimate
    elsewhere = true_rate(human, judge, [1.0] * 30, drawn="elsewhere").estimate

    assert stratified.value == pytest.approx(0.8 * 0.85 + 0.2 * 0.15)
    assert (alone.value, alone.n, alone.total) == (0.5, 20, 50)
    assert elsewhere.value == 1.0  # every item passes: more than sensitivity 0.85 can explain
    assert (elsewhere.n, elsewhere.total) == (20, 50)


@pytest.mark.parametrize("drawn", ["at random", "by verdict", "elsewhere"])
@pytest.mark.parametrize("raters", [2, 3])
def test_intervals_hold_the_rate_where_labels_are_shares_of_raters(
    drawn: Drawn, raters: int
) -> None:
    """95 % of 200 draws less three standard errors; each rater errs in a tenth of items."""
    random, held = np.random.default_rng(raters), 0

    for _ in range(200):
        truth, judge = items(500, seed=int(random.integers(1 << 30)))
        human = random.binomial(raters, 0.1 + 0.8 * truth) / raters
        order = np.argsort(judge < 0.5, kind="stable")
        passed = int((judge >= 0.5).sum())
        by_verdict = np.concatenate([order[:30], order[passed : passed + 30]])
        chosen = by_verdict if drawn == "by verdict" else np.arange(60)
        pool = np.delete(judge, chosen)
        found = true_rate(human[chosen], judge[chosen], pool, drawn=drawn).estimate
        held += found.low <= 0.1 + 0.8 * 0.7 <= found.high

    assert held / 200 >= 0.95 - 3.0 * (0.95 * 0.05 / 200) ** 0.5


@pytest.mark.parametrize(
    ("human", "judge", "pool", "message"),
    [
        ([1.5, 1, 0], [1, 1, 0], [1, 0], r"human\[0\] must be between 0 and 1"),
        ([1, 0], [1, 0], [1, 0], "at least 3"),
        ([1, 0, 1], [1, 2, 0], [1, 0], r"judge\[1\] must be between 0 and 1"),
    ],
    ids=["more than all", "two labels", "a judge of 2"],
)
def test_unusable_scores_are_refused(
    human: list[float], judge: list[float], pool: list[float], message: str
) -> None:
    """By name and value."""
    with pytest.raises(CalibrationError, match=message):
        true_rate(human, judge, pool, drawn="at random")
