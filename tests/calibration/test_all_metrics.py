"""All metrics at once: those that the kind has, each with a number or why it has none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.calibration.all_metrics import EveryMetric, NamedMetric, every_metric
from classify.calibration.arrays import Floats
from classify.calibration.estimate import Estimate
from classify.calibration.from_results import labelled_metrics
from classify.calibration.label_file import RowLabels
from classify.calibration.measurement import Measurement
from classify.calibration.rating_errors import rating_metrics
from classify.calibration.reliability_regression import CalibrationLine
from classify.calibration.result_labels import LabelledAnswers, labelled_results
from classify.errors import CalibrationError
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result
from classify.row_labels import Label

TOPIC = Choice(criteria={"a": None, "b": None, "c": None})
STARS = Score(criteria=["poor", "fair", "good"])
LOSSES = ["log loss", "log loss skill", "Brier", "Brier, CORP", "Brier skill"]
ERRORS = ["smooth ECE", "debiased error", "ECE, equal mass", "ECE, equal width", "ECE, sweep"]
TESTS = ["Kolmogorov-Smirnov", "Kuiper", "Spiegelhalter", "calibration line"]
OPTIONS = ["AUROC, one-vs-rest", "AUROC, one-vs-one"]
KEPT = ["AURC", "AURC, excess", "AUGRC"]
SCALE = ["RPS", "MAE", "Spearman", "tau-b", "quadratic kappa"]


def answer(question: Question, p: Sequence[float]) -> AnyAnswer:
    """Return the answer with these probabilities of its options; of a boolean, of (true, false)."""
    if isinstance(question, Boolean):
        return BooleanAnswer(probability=p[0])
    spread = dict(zip(question.options, p, strict=True))
    if isinstance(question, Choice):
        return ChoiceAnswer(choice=max(spread, key=spread.__getitem__), probabilities=spread)
    levels = dict(zip(map(str, range(len(p))), p, strict=True))
    return ScoreAnswer(score=float(np.dot(range(len(p)), p)), probabilities=levels)


def labelled(
    question: Question, rows: Sequence[Sequence[float]] | Floats, labels: Sequence[Label]
) -> LabelledAnswers:
    """Return answers with these probabilities and labels."""
    results = [
        Result(
            id=f"r{index}",
            index=index,
            key=str(index),
            answers={"q": answer(question, list(p))},
            labels={"q": label},
        )
        for index, (p, label) in enumerate(zip(rows, labels, strict=True))
    ]
    return labelled_results(results, {"q": question})["q"]


def drawn(question: Question, n: int = 90) -> LabelledAnswers:
    """Return answers whose labels are drawn from their probabilities."""
    random = np.random.default_rng(4)
    k = len(question.options)
    rows = random.dirichlet([0.8] * k, n)
    truth = np.minimum((rows.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    names: Sequence[Label] = (True, False) if isinstance(question, Boolean) else range(k)
    if isinstance(question, Choice):
        names = question.options
    return labelled(question, rows, [names[option] for option in map(int, truth)])


def named(found: EveryMetric) -> dict[str, NamedMetric]:
    """Return the metrics by name; a later group's metric hides an earlier one of its name."""
    return {each.name: each for group in found.groups for each in group.metrics}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        pytest.param(
            Boolean(),
            [*LOSSES, "log loss, CORP", *ERRORS, *TESTS, "accuracy", "AUROC", *KEPT],
            id="boolean",
        ),
        pytest.param(
            TOPIC,
            [*LOSSES, *ERRORS, "ECE, classwise", *TESTS, "accuracy", "AUROC", *OPTIONS, *KEPT],
            id="choice",
        ),
        pytest.param(
            STARS,
            [
                *(*LOSSES, *ERRORS, "ECE, classwise", *TESTS),
                *("accuracy", "AUROC", *OPTIONS, *KEPT, *SCALE),
            ],
            id="score",
        ),
    ],
)
def test_a_kind_has_its_metrics_each_with_its_rule_and_rows(
    question: Question, names: list[str]
) -> None:
    """Nothing is left out in silence, and nothing stands without what made it."""
    found = every_metric(drawn(question))

    assert names == [each.name for group in found.groups for each in group.metrics]
    for each in named(found).values():
        assert each.value is not None, each
        assert each.value.rule and "90 used of 90" in str(each)


@pytest.mark.parametrize(
    "rows",
    [
        *(drawn(question) for question in (Boolean(), TOPIC, STARS)),
        labelled(Boolean(), [[0.0, 1.0], [0.7, 0.3], [0.2, 0.8]], [True, True, False]),
    ],
    ids=["boolean", "choice", "score", "a zero on the truth"],
)
def test_a_number_has_one_name_among_the_headlines_and_among_all(rows: LabelledAnswers) -> None:
    """What `metrics` calls the Brier skill is what `metrics --all` does."""
    every = named(every_metric(rows))

    for name, value in labelled_metrics(rows).named():
        if value is not None:
            # Beside the headline stands how many zeros make it infinite.
            assert str(value).removesuffix(", 1 zeros on the truth") == str(every[name]), name


def test_a_mean_distance_is_called_alike_against_levels_and_against_means() -> None:
    """Whichever labels it is taken of."""
    rows = drawn(STARS)

    against_levels = labelled_metrics(rows).ordinal
    against_means = rating_metrics(rows)

    assert against_levels is not None
    names = [name for name, _ in against_levels.named()]
    assert {"MAE", "Spearman", "tau-b"} <= {*names} & {name for name, _ in against_means.named()}
    assert against_levels.mae.value == pytest.approx(against_means.mae.value, abs=1e-12)


@pytest.mark.parametrize("question", [Boolean(), TOPIC, STARS], ids=["boolean", "choice", "score"])
def test_calibration_errors_have_a_null_and_tests_a_p_value(question: Question) -> None:
    """An error of 0.05 says nothing without what chance gives on as many rows."""
    found = named(every_metric(drawn(question)))

    for name in ERRORS:
        error = found[name].value
        assert isinstance(error, Measurement)
        assert error.null_mean is not None and error.null_mean > 0.0
        assert error.p_value is not None and error.p_value > 0.001  # labels were drawn from p
    for name in ("Kolmogorov-Smirnov", "Kuiper", "Spiegelhalter"):
        test = found[name].value
        assert isinstance(test, Measurement) and test.p_value is not None


def test_values_are_those_that_can_be_told_by_hand() -> None:
    """Four rows of a boolean: the likelier side is right in three."""
    rows, labels = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]], [True, False, False, False]

    found = named(every_metric(labelled(Boolean(), rows, labels)))

    brier = (0.01 + 0.36 + 0.04 + 0.09) / 4
    loss = -math.log(0.9 * 0.4 * 0.8 * 0.7) / 4
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    for name, value in {
        "log loss": loss,
        "log loss skill": 1 - loss / entropy,
        "Brier": brier,
        "Brier skill": 1 - brier / 0.1875,
        "accuracy": 0.75,
        "AUROC": 1.0,
        "ECE, equal width": (0.1 + 0.6 + 0.2 + 0.3) / 4,
        # Surest first: 0.9 right, 0.8 right, 0.7 right, 0.6 wrong.
        "AURC": 0.25 / 4,
        "AURC, excess": 0.0,
    }.items():
        number = found[name].value
        assert number is not None
        assert number.value == pytest.approx(value), name


def test_kappa_on_the_scale_is_of_the_nearest_levels() -> None:
    """Levels 0, 0, 2, 2 against 0, 1, 1, 2: by hand 1 - (2 / 4) / (6 / 4)."""
    rows = [[1.0, 0.0, 0.0], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.0, 0.2, 0.8]]

    kappa = named(every_metric(labelled(STARS, rows, [0, 1, 1, 2])))["quadratic kappa"].value

    assert isinstance(kappa, Estimate)
    assert kappa.value == pytest.approx(2 / 3)


def test_the_line_is_of_the_probability_that_is_asked_about() -> None:
    """Twice too sure of yes: a slope of one half, wherever the columns are."""
    z = np.repeat([-4.0, -2.0, 2.0, 4.0], 1000)
    p = 1 / (1 + np.exp(-z))
    honest = np.round(1000 / (1 + np.exp(-z / 2))).astype(int)
    labels = [bool(n % 1000 < honest[n]) for n in range(z.size)]

    line = named(every_metric(labelled(Boolean(), np.stack([p, 1 - p], axis=1), labels)))[
        "calibration line"
    ].value

    assert isinstance(line, CalibrationLine)
    assert line.slope == pytest.approx(0.5, abs=0.01)
    assert line.intercept == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("question", "rows", "labels", "reasons"),
    [
        pytest.param(
            TOPIC,
            [[0.5, 0.3, 0.2]] * 5,
            ["a"] * 5,
            {
                "Brier skill": "all rows have the same label",
                "log loss skill": "all rows have the same label",
                "AUROC": "all 5 rows have the label 1",
                "AUROC, one-vs-rest": "[1, 2] are never true",
                "Spiegelhalter": "every p is 0, 0.5 or 1",
                "ECE, equal mass": "",
                "calibration line": "all 5 rows have the label 1",
            },
            id="one label",
        ),
        pytest.param(
            Boolean(),
            [[1.0, 0.0]] * 3,
            [True, True, False],
            {
                "log loss skill": "probability 0",
                "log loss, CORP": "probability 0",
                "Kolmogorov-Smirnov": "every p is 0 or 1",
                "Kuiper": "every p is 0 or 1",
                "Spiegelhalter": "every p is 0, 0.5 or 1",
                "calibration line": "every row has the same probability",
            },
            id="certain",
        ),
        pytest.param(
            STARS,
            [[0.2, 0.6, 0.2]] * 3,
            [1, 1, 1],
            {
                "Spearman": "one side has the same value",
                "tau-b": "one side has the same value",
                "quadratic kappa": "each rater gave one level",
            },
            id="one level",
        ),
        pytest.param(TOPIC, [[0.5, 0.3, 0.2]], ["b"], {"AUROC": "all 1 rows"}, id="one row"),
    ],
)
def test_what_is_not_defined_says_why_and_is_never_nan(
    question: Question, rows: list[list[float]], labels: list[Label], reasons: dict[str, str]
) -> None:
    """A row that is missing would be taken for one that was not asked for."""
    found = every_metric(labelled(question, rows, labels))

    by_name = named(found)
    for name, reason in reasons.items():
        assert reason in by_name[name].undefined
        assert (by_name[name].value is None) == bool(reason)
    assert "nan" not in "\n".join(found.lines()).replace("resamples", "")


def test_labels_between_levels_count_against_the_expected_level_alone() -> None:
    """With nothing but means there are no losses: no label names a level."""
    rows = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]

    some = every_metric(labelled(STARS, rows, [0, 1, 1.5]))
    means = every_metric(labelled(STARS, rows, [0.5, 1.5, 1.75]))

    assert 5 == len(some.groups) and 1 == len(means.groups)
    error = named(means)["MAE"].value
    assert isinstance(error, Measurement)
    assert error.value == pytest.approx((0.2 + 0.5 + 0.05) / 3)
    assert (
        "at least two items"
        in named(every_metric(labelled(STARS, rows[:1], [0.5])))["MAE"].undefined
    )


def test_several_labels_of_an_item_are_said_to_depend_on_one_another() -> None:
    """Nulls and p-values take rows as independent, and that must not be silent."""
    labels = {f"r{n}": (RowLabels({"q": "a"}), RowLabels({"q": "b"})) for n in range(3)}
    results = [
        Result(id=f"r{n}", index=n, key=f"k{n}", answers={"q": answer(TOPIC, [0.5, 0.3, 0.2])})
        for n in range(3)
    ]

    found = every_metric(labelled_results(results, {"q": TOPIC}, labels=labels)["q"])

    assert "6 rows of 3 items" in found.lines()[0]
    assert "clusters" in str(named(found)["accuracy"])


def test_without_labels_there_is_nothing_to_measure() -> None:
    """The message counts what there was."""
    results = [Result(id="r", index=0, key="k", answers={"q": answer(TOPIC, [0.5, 0.3, 0.2])})]

    with pytest.raises(CalibrationError, match=r"0 labelled rows used of 1 \(no label: 1\)"):
        every_metric(labelled_results(results, {"q": TOPIC})["q"])


@pytest.mark.parametrize("question", [TOPIC, STARS, Boolean()], ids=["choice", "score", "boolean"])
def test_repeated_rows_change_no_chance_value(question: Question) -> None:
    """A state that was read three times is one item to every null value and p-value."""
    random = np.random.default_rng(12)
    k = len(question.options)
    rows = [
        Result(
            id=f"r{n}",
            index=n,
            key=f"k{n}",
            answers={"q": answer(question, random.dirichlet(np.ones(k)).tolist())},
            labels={"q": _label(question, int(random.integers(k)))},
        )
        for n in range(40)
    ]
    copies = [row.model_copy(update={"id": f"{row.id}, {n}"}) for n in range(3) for row in rows]

    once, thrice = (
        named(every_metric(labelled_results(each, {"q": question})["q"])) for each in (rows, copies)
    )

    chances = 0
    for name, metric in once.items():
        one, many = metric.value, thrice[name].value
        if isinstance(one, Measurement) and isinstance(many, Measurement):
            assert many.value == pytest.approx(one.value, abs=0.02), name
            if one.p_value is not None:
                chances += 1
                assert many.p_value == pytest.approx(one.p_value), name
                assert many.null_mean == pytest.approx(one.null_mean), name
    assert chances >= 4


def _label(question: Question, option: int) -> Label:
    if isinstance(question, Score):
        return float(option)
    return question.options[option] if isinstance(question, Choice) else option == 0
