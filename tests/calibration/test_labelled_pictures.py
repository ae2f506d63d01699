"""Pictures of the results of a run count every row that was asked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import spearmanr

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.calibration.arrays import Floats
from classify.calibration.label_file import RowLabels
from classify.calibration.labelled_pictures import (
    labelled_confidence,
    labelled_confusion,
    labelled_reliability,
    labelled_risk_coverage,
    labelled_scores,
)
from classify.calibration.reliability import reliability_diagram
from classify.calibration.result_labels import LabelledAnswers, labelled_results
from classify.errors import CalibrationError
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result
from classify.row_labels import Label

TOPIC = Choice(criteria={"a": None, "b": None})
MOOD = Score(criteria=["low", "middle", "high"])


def gathered(
    question: Question,
    rows: list[tuple[AnyAnswer | None, Label | None]],
    *,
    labels: dict[str, list[RowLabels]] | None = None,
) -> LabelledAnswers:
    """Return the labelled answers to one question."""
    results = [
        Result(
            id=str(index),
            index=index,
            key=str(index),
            answers={} if answer is None else {"q": answer},
            labels={} if label is None else {"q": label},
        )
        for index, (answer, label) in enumerate(rows)
    ]
    return labelled_results(results, {"q": question}, labels=labels)["q"]


def topic(p: float) -> ChoiceAnswer:
    return ChoiceAnswer(choice="a" if p >= 0.5 else "b", probabilities={"a": p, "b": 1 - p})


def mood(low: float, middle: float, high: float) -> ScoreAnswer:
    return ScoreAnswer(score=middle + 2 * high, probabilities={"0": low, "1": middle, "2": high})


DECLINED = NoVerdict(kind="choice", cause="refusal", message="it declined")
TOPICS = gathered(
    TOPIC, [(topic(0.9), "a"), (topic(0.6), "b"), (topic(0.2), None), (DECLINED, "a"), (None, "b")]
)


def test_confidence_counts_the_unlabelled_and_those_without_a_verdict() -> None:
    """Of five rows three have a distribution, two of them a label."""
    found = labelled_confidence(TOPICS, bins=2)

    assert [(each.right, each.wrong, each.unlabelled) for each in found.bins] == [
        (0, 0, 0),
        (1, 1, 1),
    ]
    assert (found.n, found.total) == (3, 5)
    assert found.accuracy is not None and found.accuracy.value == 0.5
    assert found.mean_confidence == pytest.approx(0.75)


def test_reliability_and_risk_are_of_the_labelled_answers() -> None:
    """The surer one is right, the other wrong."""
    assert sum(labelled_reliability(TOPICS).histogram) == 2
    assert labelled_risk_coverage(TOPICS).risk == (0.0, 0.5)


def test_a_boolean_is_reliable_where_yes_comes_true_and_sure_on_either_side() -> None:
    """P(true) of 0.1 is a sure no."""
    answers = gathered(
        Boolean(), [(BooleanAnswer(probability=0.1), False), (BooleanAnswer(probability=0.8), True)]
    )

    points = labelled_reliability(answers).points
    assert [p.probability for p in points] == pytest.approx([0.1, 0.8])
    assert [p.rate for p in points] == [0.0, 1.0]
    assert labelled_confidence(answers).mean_confidence == pytest.approx(0.85)
    scores = labelled_scores(answers).labels
    assert [each.label for each in scores] == [0.0, 1.0]
    assert [each.mean.value for each in scores] == pytest.approx([0.1, 0.8])


def test_the_level_of_a_score_is_the_nearest_to_its_expectation() -> None:
    """As in `classify agree`: an expectation of 1.1 is level 1, though 2 is the likeliest."""
    answers = gathered(MOOD, [(mood(0.3, 0.3, 0.4), 2), (mood(0.0, 0.2, 0.8), 2), (DECLINED, 1)])
    found = labelled_confusion(answers)

    assert found.table.counts == ((0, 0, 0), (0, 0, 0), (0, 1, 1))
    assert (found.table.n, found.table.total) == (2, 3)
    assert found.difference.value == -0.5


def test_scores_are_the_expected_levels() -> None:
    """A label between two levels has no level, and is left out and counted."""
    answers = gathered(MOOD, [(mood(0.3, 0.3, 0.4), 2), (mood(1.0, 0.0, 0.0), 0.5), (None, 1)])
    found = labelled_scores(answers)

    assert [each.label for each in found.labels] == [2.0]
    assert found.labels[0].mean.value == pytest.approx(1.1)
    assert (found.n, found.total, found.scale) == (1, 3, (0.0, 2.0))


def test_what_rounding_parts_is_one_probability_and_one_score() -> None:
    """0.6 beside 0.1 and 0.3 is that beside 0.25 and 0.15; halves are halves whatever they sum."""
    parts = [(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)]
    rows = [(mood(*(part / 20 for part in each)), index % 3) for index, each in enumerate(parts)]
    answers = gathered(MOOD, [*rows])
    confidence = [max(each) / 20 for each in parts]
    right = [each.index(max(each)) == index % 3 for index, each in enumerate(parts)]

    found = labelled_reliability(answers)

    expected = reliability_diagram(confidence, right, seed=0)
    assert [p.rows for p in found.points] == [p.rows for p in expected.points]
    assert [p.rate for p in found.points] == pytest.approx([p.rate for p in expected.points])
    assert len(found.curve) == len(expected.curve)
    scores = labelled_scores(answers)
    exact: Floats = np.array(parts) @ np.arange(3) / 20
    assert scores.correlation is not None
    assert scores.correlation.value == pytest.approx(
        spearmanr(exact, np.arange(len(parts)) % 3).statistic, abs=1e-12
    )


def test_several_labels_of_one_item_are_drawn_together() -> None:
    """Wilson's interval would take them for independent rows."""
    labels = {str(i): [RowLabels({"q": "a"}), RowLabels({"q": "a"})] for i in range(2)}
    answers = gathered(TOPIC, [(topic(0.9), None), (topic(0.2), None)], labels=labels)
    right = labelled_confidence(answers).accuracy

    assert right is not None and (right.value, right.n) == (0.5, 4)
    assert "cluster" in right.rule
    assert np.isclose(right.low or 0.0, 0.0) and np.isclose(right.high or 0.0, 1.0)


@pytest.mark.parametrize(
    "picture",
    [labelled_reliability, labelled_risk_coverage, labelled_confusion, labelled_scores],
)
def test_without_labels_there_is_nothing_to_compare(
    picture: Callable[[LabelledAnswers], object],
) -> None:
    """The error says how many rows there were and why none was used."""
    answers = gathered(MOOD, [(mood(0.3, 0.3, 0.4), None), (DECLINED, 1)])

    with pytest.raises(CalibrationError, match=r"0 labelled rows used of 2 \(no label: 1; no ver"):
        picture(answers)


def test_a_choice_has_neither_levels_nor_a_score() -> None:
    """Its options have no order."""
    with pytest.raises(CalibrationError, match="a choice has no ordered levels"):
        labelled_confusion(TOPICS)
    with pytest.raises(CalibrationError, match="a choice has no score"):
        labelled_scores(TOPICS)
