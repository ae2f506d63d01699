"""What is the true rate: one question, the estimator that fits how the labels were drawn.

The front door to `prevalence` and `prediction_powered`: it picks, says why, and warns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, probabilities
from classify.calibration.comparison import holm
from classify.calibration.estimate import Estimate
from classify.calibration.prediction_powered import PredictionPowered, ppi_rate
from classify.calibration.prevalence import Share, labels_only, rogan_gladen, stratified_rate
from classify.calibration.rank_correlation import mid_ranks
from classify.calibration.settings import finite_number, in_percent, of_type, one_of
from classify.display.notebook import Shown
from classify.errors import CalibrationError

Drawn: TypeAlias = Literal["at random", "by verdict", "elsewhere", "unknown"]

FEWEST_LABELS = 50
"""Below this the judge's correction is less sure than it looks: the labels speak alone."""
FEWEST_PER_VERDICT = 5
_SUSPICIOUS = 2e-3
"""Of two tests together (Holm): up to 1 % of 2000 draws at random are below it, where few scores
are high and most are near 0; mostly it is 0.2 %."""


@dataclass(frozen=True, slots=True)
class TrueRate(Shown):
    """A rate with the way it was found, ready to be quoted."""

    estimate: Estimate
    """The corrected rate with its interval."""
    judged: float
    """The uncorrected rate: the judge's mean over all items."""
    drawn: Drawn
    """How the labelled items were chosen."""
    reason: str
    """Why this estimator."""
    warnings: tuple[str, ...]
    """What makes it doubtful."""
    name: str
    """What it is the rate of."""

    @property
    def sentence(self) -> str:
        """The result as a sentence, such as "the pass rate is 71 % [66, 76] after …"."""
        found = self.estimate
        value, low, high = map(self._percent, (found.value, found.low, found.high))
        source = (
            f"from {found.n} human labels alone"
            if found.rule.startswith("labels only")
            else f"after correcting the judge with {found.n} human labels"
        )
        return f"{self.name} is {value} % [{low}, {high}] {source}"

    def __str__(self) -> str:
        """Say the sentence, the rule, "n used of N", why, and every warning."""
        found = self.estimate
        text = (
            f"{self.sentence} ({found.rule}, {in_percent(found.confidence)}, {found.n} used of "
            f"{found.total}; the judge alone says {self._percent(self.judged)} %); {self.reason}"
        )
        return "; ".join([text, *(f"warning: {warning}" for warning in self.warnings)])

    def _percent(self, rate: float) -> str:
        """Return a rate with the digits that half the interval's width shows, at most three."""
        points = 50.0 * (self.estimate.high - self.estimate.low)
        digits = math.ceil(-math.log10(min(1.0, max(1e-3, points))) - 1e-9)
        return f"{100.0 * rate:z.{digits}f}"


def true_rate(
    human: ArrayLike,
    judge: ArrayLike,
    pool: ArrayLike,
    *,
    drawn: Drawn,
    cut: float = 0.5,
    confidence: float = 0.95,
    name: str = "the pass rate",
) -> TrueRate:
    """Return the true rate of "yes" among judged items, corrected with human labels.

    human, judge (n,): human labels 0 or 1, and the judge's probability or verdict on the same
    items. Where several people labelled an item, its label is the share of them who said yes: the
    rate is the mean of labels over all items, to which raters who tie give a half. pool (N,): the
    judge on the items without a label. drawn: how the labelled items were chosen. "at random" from
    all judged items; "by verdict", so many per verdict of the judge; "elsewhere", from another set
    in which the judge errs alike; "unknown", which warns. A judge's score from `cut` on is a yes
    where only verdicts are used.
    """
    one_of(drawn, get_args(Drawn), name="drawn")
    finite_number(cut, name="cut")
    of_type(name, str, name="name", what="a text")
    data = _Data.of(human, judge, pool, cut=cut)
    if drawn == "elsewhere":
        return _from_elsewhere(data, confidence, name)
    judged = float(np.concatenate([data.judge, data.pool]).mean())
    if drawn == "by verdict":
        estimate, reason = _by_verdict(data, confidence)
        return TrueRate(estimate, judged, drawn, reason, (), name)
    estimate, reason = _at_random(data, confidence)
    return TrueRate(estimate, judged, drawn, reason, _drawing_warnings(data, drawn), name)


@dataclass(frozen=True, slots=True)
class _Data:
    human: Floats
    judge: Floats
    pool: Floats
    cut: float

    @classmethod
    def of(cls, human: ArrayLike, judge: ArrayLike, pool: ArrayLike, *, cut: float) -> _Data:
        y, f = probabilities(human, name="human"), probabilities(judge, name="judge")
        others = probabilities(pool, name="pool")
        if y.shape != f.shape or y.size < 3 or others.size < 2:
            raise CalibrationError(
                f"human and judge must be of one length, at least 3, and the pool of 2, "
                f"got {y.size}, {f.size} and {others.size}"
            )
        return cls(y, f, others, cut)

    @property
    def total(self) -> int:
        return self.human.size + self.pool.size

    @property
    def gives_verdicts(self) -> bool:
        return bool(np.isin(np.concatenate([self.judge, self.pool]), (0.0, 1.0)).all())

    def right(self, *, verdict: bool) -> Share:
        """Return, of the labelled items with this verdict, how many have the label it says."""
        labels = self.human[(self.judge >= self.cut) == verdict]
        if labels.size == 0:
            raise CalibrationError(
                f"no labelled item has the verdict {'yes' if verdict else 'no'}: label some"
            )
        return Share(float((labels if verdict else 1.0 - labels).sum()), labels.size)

    @property
    def passed(self) -> int:
        return int((self.judge >= self.cut).sum() + (self.pool >= self.cut).sum())

    def alone(self, confidence: float) -> Estimate:
        yes = Share(float(self.human.sum()), self.human.size)
        return labels_only(yes, total=self.total, confidence=confidence)

    def stratified(self, confidence: float) -> Estimate:
        return stratified_rate(
            passed=Share(self.passed, self.total),
            right_if_passed=self.right(verdict=True),
            right_if_failed=self.right(verdict=False),
            confidence=confidence,
        )

    def powered(self, confidence: float) -> PredictionPowered:
        return ppi_rate(self.human, self.judge, self.pool, confidence=confidence)


def _at_random(data: _Data, confidence: float) -> tuple[Estimate, str]:
    n, alone = data.human.size, data.alone(confidence)
    if n < FEWEST_LABELS:
        return alone, f"below {FEWEST_LABELS} labels the judge cannot be corrected reliably"
    powered = data.powered(confidence)
    needed = 1.0 / math.sqrt(n - 2)
    if powered.correlation <= needed:
        return alone, (
            f"the judge's correlation with people, {powered.correlation:.2f}, is no more than "
            f"{n} labels can show by luck ({needed:.2f})"
        )
    if not data.gives_verdicts:
        return powered.estimate, f"a graded judge with correlation {powered.correlation:.2f}"
    passed = int((data.judge >= data.cut).sum())
    if min(passed, n - passed) < FEWEST_PER_VERDICT:
        return alone, f"fewer than {FEWEST_PER_VERDICT} labels have one of the verdicts"
    return data.stratified(confidence), "verdicts of the judge split the items into two kinds"


def _by_verdict(data: _Data, confidence: float) -> tuple[Estimate, str]:
    if data.passed in (0, data.total):
        verdict = "yes" if data.passed else "no"
        return data.alone(confidence), f"the judge says {verdict} of every item, so of all labels"
    return data.stratified(confidence), "labels drawn by verdict are right only within each verdict"


def _from_elsewhere(data: _Data, confidence: float, name: str) -> TrueRate:
    yes, no = data.human, 1.0 - data.human
    if not (yes.any() and no.any()):
        raise CalibrationError(
            "labels from elsewhere must hold both yes and no, to say how the judge errs on each"
        )
    verdict = data.judge >= data.cut
    sensitivity = Share(float((verdict * yes).sum()), float(yes.sum()))
    specificity = Share(float((~verdict * no).sum()), float(no.sum()))
    estimate = rogan_gladen(
        passed=Share(int((data.pool >= data.cut).sum()), data.pool.size),
        sensitivity=sensitivity,
        specificity=specificity,
        confidence=confidence,
    )
    power = sensitivity.rate + specificity.rate - 1.0
    warnings = ["the judge is assumed to err here as often as where the labels come from"]
    if power < 0.2:
        warnings.append(f"the judge hardly tells yes from no (sens. + spec. - 1 = {power:.2f})")
    reason = "labels from elsewhere say how the judge errs, not how often yes is true here"
    judged = float(data.pool.mean())
    return TrueRate(estimate, judged, "elsewhere", reason, tuple(warnings), name)


def _drawing_warnings(data: _Data, drawn: Drawn) -> tuple[str, ...]:
    warnings: list[str] = []
    if drawn == "unknown":
        warnings.append(
            "the labels are not known to be drawn at random: the interval shows luck, not that bias"
        )
    mean = _luck(np.concatenate([data.judge, data.pool]), data.judge.size)
    sureness = np.abs(np.concatenate([data.judge, data.pool]) - data.cut)
    # Ranks, for that is all that choosing the least or the most sure items goes by.
    sure = _luck(mid_ranks(sureness, np.ones_like(sureness)), data.judge.size)
    moved, spread = (p < _SUSPICIOUS for p in holm([mean, sure]))
    if moved:
        warnings.append(
            f"the labels do not look drawn at random: the judge's mean is "
            f"{data.judge.mean():.2f} on them and {data.pool.mean():.2f} on the others"
        )
    elif spread:
        labelled, others = np.split(sureness, [data.judge.size])
        warnings.append(
            f"the labels do not look drawn at random: the judge's scores lie {labelled.mean():.2f} "
            f"from {data.cut:g} on them and {others.mean():.2f} on the others"
        )
    return tuple(warnings)


def _luck(values: Floats, n: int) -> float:
    """Return how often the mean of the first n would be so far from the others', drawn at random.

    Two-sided, by the normal law.
    """
    labelled, others = np.split(values, [n])
    spread = float(values.std()) * math.sqrt(1.0 / labelled.size + 1.0 / others.size)
    gap = abs(float(labelled.mean() - others.mean()))
    return math.erfc(gap / spread / math.sqrt(2.0)) if spread > 0.0 else 1.0
