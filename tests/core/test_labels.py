"""Listing orders, alphabets and groups."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.errors import InvalidInput
from classify.labels import canonical, check_readout, listings, slate
from classify.questions import Boolean, Choice, Question, Score


def choice(count: int) -> Choice:
    """Return a choice of so many options."""
    return Choice(criteria={f"option {k:03}": None for k in range(count)})


def levels(count: int) -> Score:
    """Return a score of so many levels."""
    return Score(criteria=[f"level {k}" for k in range(count)])


@given(st.permutations(["ant", "Bee", "cat", "\u00e4pfel", "10", "9"]))
def test_the_canonical_order_is_that_of_the_text(options: list[str]) -> None:
    """However they were declared."""
    assert canonical(Choice(criteria=dict.fromkeys(options))) == (
        "10",
        "9",
        "Bee",
        "ant",
        "cat",
        "\u00e4pfel",
    )


def test_levels_and_booleans_stay_in_their_order() -> None:
    """Worst to best, true before false."""
    assert canonical(levels(12)) == tuple(str(k) for k in range(12))
    assert canonical(Boolean()) == ("true", "false")


@given(st.integers(1, 40), st.integers(1, 50))
def test_rotations_are_evenly_spaced(options: int, count: int) -> None:
    """Each a cyclic shift of the first, no two alike, at most one per option."""
    found = listings(choice(options), count)
    first = canonical(choice(options))

    assert len(found) == len(set(found)) == min(options, count)
    shifts = [first.index(listing[0]) for listing in found]
    assert all(found[k] == first[s:] + first[:s] for k, s in enumerate(shifts))
    gaps = [b - a for a, b in zip(shifts, [*shifts[1:], options], strict=True)]
    assert max(gaps) - min(gaps) <= 1


@given(st.integers(1, 20))
def test_with_all_rotations_each_option_has_each_place_once(options: int) -> None:
    """That is why every preference for a place cancels."""
    found = listings(choice(options), options)

    for place in range(options):
        assert len({listing[place] for listing in found}) == options


@pytest.mark.parametrize("question", [levels(4), Boolean()], ids=["score", "boolean"])
def test_the_other_order_is_the_reverse(question: Question) -> None:
    """Levels are never rotated."""
    forward = canonical(question)

    assert listings(question, 1) == (forward,)
    assert listings(question, 9) == (forward, forward[::-1])


@pytest.mark.parametrize(
    ("question", "readout", "labels"),
    [
        pytest.param(choice(3), "letters", "ABC", id="letters"),
        pytest.param(choice(3), "digits", "012", id="digits"),
        pytest.param(choice(11), "digits", "ABCDEFGHIJK", id="past ten digits"),
        pytest.param(levels(5), "digits", "01234", id="levels"),
        pytest.param(levels(11), "digits", "ABCDEFGHIJK", id="past ten levels"),
        pytest.param(levels(5), "letters", "ABCDE", id="levels by letters"),
        pytest.param(Boolean(), "letters", "AB", id="boolean by letters"),
    ],
)
def test_the_alphabet_follows_the_readout(question: Question, readout: Any, labels: str) -> None:
    """One mark each, in the order listed."""
    found = slate(question, canonical(question), readout=readout, resolution=20)

    assert found.labels == tuple(labels)
    assert list(found.mapping().values()) == list(canonical(question))


def test_a_level_keeps_its_digit_in_the_reverse_listing() -> None:
    """Prompt, label and answer agree in either direction."""
    found = slate(levels(3), ("2", "1", "0"), readout="digits", resolution=20)

    assert found.mapping() == {"2": "2", "1": "1", "0": "0"}


def test_yes_and_no_follow_the_listing() -> None:
    """Yes is true in either order."""
    found = slate(Boolean(), ("false", "true"), readout="yes_no", resolution=20)

    assert found.mapping() == {"No": "false", "Yes": "true"}


@given(st.integers(1, 255), st.integers(1, 30))
def test_no_slate_has_more_labels_than_the_endpoint_shows(count: int, resolution: int) -> None:
    """All options in order, each once, in groups of even sizes."""
    question = choice(count)

    found = slate(question, canonical(question), readout="letters", resolution=resolution)

    assert len(found.labels) <= min(max(resolution, 2), 26)
    assert tuple(option for group in found.members for option in group) == canonical(question)
    sizes = [len(group) for group in found.members]
    assert max(sizes) - min(sizes) <= 1
    assert found.grouped == (max(sizes) > 1)


@given(st.integers(1, 255), st.integers(1, 30))
def test_a_tree_is_no_deeper_than_it_must_be(count: int, resolution: int) -> None:
    """Opening group after group reaches single options in as few steps as the labels allow."""
    question, size = choice(count), min(max(resolution, 2), 26)
    fewest = 1
    while size**fewest < count:
        fewest += 1

    group, steps = canonical(question), 0
    while len(group) > 1:
        shown = slate(question, group, readout="letters", resolution=resolution)
        group, steps = max(shown.members, key=len), steps + 1

    assert steps == (fewest if count > 1 else 0)


@pytest.mark.parametrize("question", [choice(2), levels(2)], ids=["choice", "score"])
def test_yes_no_answers_booleans_only(question: Question) -> None:
    """The message names the question, its kind and the readouts that fit."""
    with pytest.raises(InvalidInput, match=f"'q'.*this is a {question.type}; use letters"):
        check_readout("q", question, "yes_no")


@pytest.mark.parametrize("readout", ["letters", "digits", "words", "sequence", "yes_no"])
def test_booleans_take_every_readout(readout: Any) -> None:
    """Nothing is refused that could be answered."""
    check_readout("q", Boolean(), readout)
