"""What people's labels say of the answers to one question: numbers, bins and pictures."""

from __future__ import annotations

import re

from classify.calibration.from_results import labelled_metrics
from classify.calibration.intervals import wilson
from classify.calibration.labelled_pictures import labelled_reliability, labelled_risk_coverage
from classify.calibration.reliability import ReliabilityDiagram
from classify.calibration.result_labels import LabelledAnswers
from classify.calibration.svg import reliability_svg, risk_coverage_svg
from classify.json_values import JSON


def labelled_figures(answers: LabelledAnswers, *, seed: int = 0) -> dict[str, JSON]:
    """Return the figures of answers of which at least one has a label."""
    diagram = labelled_reliability(answers, seed=seed)
    kind = answers.question.type
    promised = "P(true), and how often it was" if kind == "boolean" else "confidence and accuracy"
    return {
        "used": answers.used,
        "metrics": _metrics(answers, seed),
        "reliability": _bare(reliability_svg(diagram, title=f"Reliability: {promised}")),
        "bins": _bins(diagram),
        "rule": diagram.rule,
        "risk": _bare(
            risk_coverage_svg(
                labelled_risk_coverage(answers), title="Wrong answers among the surest"
            )
        ),
    }


def _bare(svg: str) -> str:
    """Return a picture without its colours: it takes the page's, whose policy bars all others."""
    return re.sub("<style>.*?</style>", "", svg)


def _metrics(answers: LabelledAnswers, seed: int) -> JSON:
    """Return each number's name, the number with its interval, and the rule that made it."""
    rows: list[JSON] = []
    for name, value in labelled_metrics(answers, seed=seed).named():
        if value is not None:
            number, _, rule = str(value).partition("  (")
            rows.append([name, number, rule.removesuffix(")")])
    return rows


def _bins(diagram: ReliabilityDiagram) -> JSON:
    rows: list[JSON] = []
    for point in diagram.points:
        rate = wilson(point.rate * point.rows, point.rows)
        rows.append(
            {
                "probability": point.probability,
                "rate": point.rate,
                "interval": [rate.low, rate.high],
                "band": [point.low, point.high],
                "rows": point.rows,
                "inside": point.inside,
            }
        )
    return rows
