"""An audit with labels: bias by group, length among items scored alike, n used of N."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy.stats import spearmanr

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.calibration.audit_items import AuditedItems, audited_items
from classify.calibration.audits import Audit, audit
from classify.calibration.bias_of_results import result_bias
from classify.calibration.label_file import RowLabels
from classify.errors import InvalidInput
from classify.evidence import Evidence, OrderSeen
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result

TOPIC = Choice(criteria={"a": None, "b": None})
Labels = Mapping[str, tuple[RowLabels, ...]]


def boolean(n: int, p: float, *, truth: bool | None = None, channel: str = "web") -> Result:
    """Return a row with P(true)."""
    answer = BooleanAnswer(probability=p, label_mass=1.0, method="logprobs")
    return Result(
        id=f"r{n}",
        index=n,
        key=str(n),
        state={"text": "x" * (n % 7), "channel": channel},
        labels={} if truth is None else {"q": truth},
        answers={"q": answer},
    )


def audited(results: list[Result], question: Question, labels: Labels | None = None) -> Audit:
    """Return the audit of these results."""
    items = audited_items(results, "q", question, labels=labels, group="channel")
    return audit(question, items, result_bias(results, "q", question))


def test_a_judge_that_is_kinder_to_one_group_is_found() -> None:
    """By 0.3 in P(true), for the same truths; groups come from the state."""
    random = np.random.default_rng(0)
    results = [
        boolean(
            n,
            0.4 * truth + 0.2 + 0.3 * (n % 2) + 0.05 * random.random(),
            truth=bool(truth),
            channel="mail" if n % 2 else "web",
        )
        for n, truth in enumerate(random.integers(0, 2, 200))
    ]

    found = audited(results, Boolean())

    mail, web = found.groups
    assert ("mail", "web") == (mail.group, web.group)
    assert mail.bias.value - web.bias.value == pytest.approx(0.3, abs=0.1)
    assert mail.p_value is not None and mail.p_value < 1e-4
    assert (100, 100) == (mail.bias.n, mail.bias.total)


def test_rows_without_an_answer_or_a_label_are_counted() -> None:
    """Nothing is dropped in silence."""
    failed = NoVerdict(kind="boolean", cause="no_label", message="none", method="logprobs")
    results = [boolean(n, 0.1 + 0.1 * (n % 5), truth=n % 2 == 0) for n in range(10)]
    results += [
        boolean(10, 0.5),
        boolean(11, 0.5, truth=True).model_copy(update={"answers": {"q": failed}}),
    ]

    lines = audited(results, Boolean()).lines()

    assert "11 answers used of 12 (no verdict, no_label: 1)" in lines
    assert "labelled items: 10 used of 12" in lines
    assert any("10 used of 12" in line for line in lines if "equal labels" in line)


def test_of_a_choice_groups_show_the_share_of_right_answers() -> None:
    """A choice has no direction to be biased in, and no order for lengths."""
    answer = ChoiceAnswer(
        choice="a", label_mass=1.0, method="logprobs", probabilities={"a": 0.9, "b": 0.1}
    )
    results = [boolean(n, 0.5).model_copy(update={"answers": {"q": answer}}) for n in range(8)]
    labels: Labels = {
        f"r{n}": (RowLabels({"q": "a" if n in (0, 1, 2) else "b"}, group="x" if n < 4 else "y"),)
        for n in range(8)
    }

    found = audited(results, TOPIC, labels)

    assert [0.75, 0.0] == [group.bias.value for group in found.groups]
    assert "share of right answers" in str(found.groups[0])
    assert any("a choice has no order" in note for note in found.notes)


def test_weights_count_within_an_item_and_the_audit_says_so() -> None:
    """Two raters of weights 3 and 1; a rater of weight 0 said nothing."""
    raters = (RowLabels({"q": True}, 3.0), RowLabels({"q": False}), RowLabels({"q": False}, 0.0))

    items = _items([boolean(0, 0.5)], {"r0": raters})

    assert 0.75 == items.people[0]
    assert items.weighted


def test_the_same_expected_level_is_one_number() -> None:
    """0.1, 0.3, 0.6 and 0.2, 0.1, 0.7 both expect 1.5, so they tie where they are ranked."""
    parts = [(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)]
    stars = Score(criteria=("poor", "fair", "good"))
    results = [
        boolean(n, 0.5).model_copy(
            update={
                "answers": {
                    "q": ScoreAnswer(
                        score=0.0,
                        label_mass=1.0,
                        method="logprobs",
                        probabilities={str(level): part / 20 for level, part in enumerate(each)},
                    )
                }
            }
        )
        for n, each in enumerate(parts)
    ]

    items = audited_items(results, "q", stars, labels=None, group="channel")

    levels = np.array(parts) @ np.arange(3)
    assert len(np.unique(items.judge)) == len(np.unique(levels))
    habit = result_bias(results, "q", stars).length
    assert habit is not None
    expected = spearmanr(levels, [n % 7 for n in range(len(parts))]).statistic
    assert habit.value == pytest.approx(expected, abs=1e-12)


def test_a_label_of_no_row_is_refused() -> None:
    """With the id that names none."""
    with pytest.raises(InvalidInput, match=r"such as 'r9'\) names a row of the results"):
        _items([boolean(0, 0.5)], {"r9": (RowLabels({"q": True}),)})


def _in_two_orders(n: int, p: float, *, name: str, seconds: float | None = None) -> Result:
    """Return a row that was read in either order of the options with the same P(true)."""
    orders = tuple(
        OrderSeen(
            labels=dict(zip("AB", listing, strict=True)),
            probabilities={"true": p, "false": 1.0 - p},
            label_mass=1.0,
            prompt_hash="",
        )
        for listing in (("true", "false"), ("false", "true"))
    )
    answer = BooleanAnswer(probability=p, evidence=Evidence(orders=orders))
    update = {"id": name, "answers": {"q": answer}, "seconds": seconds}
    return boolean(n, p).model_copy(update=update)


@pytest.mark.parametrize("ids", ["one", "two"])
def test_a_state_that_was_read_twice_shows_the_noise_whatever_its_ids(ids: str) -> None:
    """Two items of equal text are one question to the model; 2 of 10 change their answer."""

    def reading(n: int, again: int) -> Result:
        name = f"r{n}" if ids == "one" else f"r{n}, {again}"
        return _in_two_orders(n, 0.1 if again and n < 2 else 0.9, name=name)

    order = audited(
        [reading(n, again) for again in (0, 1) for n in range(10)], Boolean()
    ).habits.order

    assert order is not None and order.noise is not None
    assert order.noise.value == pytest.approx(0.2)
    assert (order.noise.n, order.noise.total) == (10, 10)


def test_a_copy_that_a_resumed_run_made_is_no_repeat() -> None:
    """Ten items read twice, of which two change; ten more copies would halve the noise."""
    asked = [
        _in_two_orders(n, 0.1 if again and n < 2 else 0.9, name=f"r{n}", seconds=0.25 + again)
        for again in (0, 1)
        for n in range(10)
    ]
    copied = [
        _in_two_orders(n, 0.9, name=f"r{n}, copied", seconds=0.25) for n in range(10) for _ in "ab"
    ]

    found = audited([*asked, *copied], Boolean()).habits

    assert found.order is not None and found.order.noise is not None
    assert found.order.noise.value == pytest.approx(0.2)
    assert found.copies == 20
    assert "20 rows hold a copy of another row's answer" in "\n".join(found.lines())


def test_repeats_show_the_noise_in_one_order_too() -> None:
    """Four items answered .2 and .7 in turn, two items once; a resumed run's copies are none."""
    asked = [
        boolean(n, 0.7 if again else 0.2).model_copy(update={"seconds": 0.25 + again})
        for n in range(4)
        for again in (0, 1)
    ]
    copied = [row.model_copy(update={"id": f"{row.id}, copied"}) for row in asked for _ in "abc"]

    report = audited([*asked, *copied, boolean(8, 0.9), boolean(9, 0.9)], Boolean())

    noise = report.habits.repeats
    assert noise is not None and report.habits.order is None
    assert noise.distance.value == pytest.approx(0.5)
    assert (noise.flips.value, noise.flips.n, noise.flips.total) == (1.0, 4, 6)
    assert any(line.startswith("repeats: distance 0.5000") for line in report.lines())


def test_repeats_are_of_the_answers_and_not_of_readings() -> None:
    """An answer of two orders counts once: the same readings as in the test of the order."""
    rows = [
        _in_two_orders(n, 0.1 if again and n < 2 else 0.9, name=f"r{n}, {again}")
        for again in (0, 1)
        for n in range(10)
    ]

    noise = audited(rows, Boolean()).habits.repeats

    assert noise is not None and noise.flips.value == pytest.approx(0.2)
    assert noise.distance.value == pytest.approx(0.16)
    assert noise.distance.n == 10


def test_copies_alone_show_no_noise() -> None:
    """Not even none: nothing was asked twice."""
    rows = [
        _in_two_orders(n, 0.9, name=f"r{n}, {place}", seconds=0.5 + n)
        for n in range(10)
        for place in range(3)
    ]

    order = audited(rows, Boolean()).habits.order

    assert order is not None and order.noise is None


def test_names_are_no_groups() -> None:
    """A field that differs in every row would be compared with itself."""
    results = [boolean(n, 0.3, truth=True, channel=f"name {n}") for n in range(60)]

    found = audited(results, Boolean())

    assert not found.groups
    assert "groups: not looked at, 60 are too many, at most 50" in found.notes


def _items(results: list[Result], labels: Labels) -> AuditedItems:
    return audited_items(results, "q", Boolean(), labels=labels)


def test_repeated_rows_are_no_new_items() -> None:
    """Five copies under new ids: the numbers of one, which have no more evidence behind them."""
    random = np.random.default_rng(3)
    once = [
        boolean(n, random.random(), truth=random.random() < 0.5, channel="ab"[n % 2]).model_copy(
            update={"state": {"text": "x" * int(random.integers(1, 90)), "channel": "ab"[n % 2]}}
        )
        for n in range(30)
    ]
    copies = [
        row.model_copy(update={"id": f"{row.id}, {again}"}) for again in range(5) for row in once
    ]

    one, five = audited(once, Boolean()), audited(copies, Boolean())

    assert one.equal_length is not None and five.equal_length is not None
    assert (five.equal_length.n, five.equal_length.total) == (30, 30)
    assert five.equal_length.value == pytest.approx(one.equal_length.value)
    assert five.equal_length.p_value == pytest.approx(one.equal_length.p_value)
    assert [group.p_value for group in five.groups] == pytest.approx(
        [group.p_value for group in one.groups]
    )
    assert [group.bias.low for group in five.groups] == pytest.approx(
        [group.bias.low for group in one.groups]
    )
    assert "150 answers used of 150" in five.lines()


def test_readings_of_one_item_are_averaged_and_its_labels_are_those_of_any_row() -> None:
    """0.2, 0.4 and 0.9 are one judge's number; a label of one copy is of the item."""
    copies = [
        boolean(0, p).model_copy(update={"id": f"r{n}"}) for n, p in enumerate((0.2, 0.4, 0.9))
    ]

    items = _items(copies, {"r1": (RowLabels({"q": True}, group="mail"),)})

    assert items.judge.tolist() == pytest.approx([0.5])
    assert (items.people.tolist(), items.groups, items.rows) == ([1.0], ("mail",), 3)


def test_shares_of_options_count_readings_and_the_rest_items() -> None:
    """As the page on calibration says: one of eight items was read three times, as true."""
    rows = [boolean(n, 0.2 + 0.01 * n, truth=n % 2 == 0) for n in range(1, 8)]
    again = [boolean(0, 0.9, truth=True).model_copy(update={"id": f"0, {n}"}) for n in range(3)]

    found = audited([*again, *rows], Boolean())

    levels = found.habits.levels
    assert levels.likeliest[0] == pytest.approx(0.3)
    assert levels.n == 10
    assert (found.labelled, found.total) == (8, 8)
    assert found.habits.length is not None and found.habits.length.n == 8
    (web,) = found.groups
    assert web.bias.n == 8
