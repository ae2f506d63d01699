"""One position: properties of masses and bounds, normalisation of tokens, formatting."""

from __future__ import annotations

import math
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.errors import MalformedResponse
from classify.language_model import Alternative, Position
from classify.orders import expectation_range
from classify.readout import check_logprob, is_formatting, normalized, read_position

LABELS = tuple("ABCDE")
OTHERS = tuple(f"word{k}" for k in range(8))


@st.composite
def truncated(draw: st.DrawFn) -> tuple[dict[str, float], Position]:
    """Draw a true distribution over a vocabulary, and the n likeliest tokens that are returned."""
    tokens = LABELS + OTHERS
    mass = draw(
        st.lists(st.floats(1e-9, 1.0), min_size=len(tokens), max_size=len(tokens)).map(np.array)
    )
    true = dict(zip(tokens, (mass / mass.sum()).tolist(), strict=True))
    ranked = sorted(true, key=true.__getitem__, reverse=True)[: draw(st.integers(1, len(tokens)))]
    found = tuple(Alternative(token, math.log(true[token])) for token in ranked)
    return true, Position(ranked[0], found)


@given(truncated())
def test_bounds_hold_the_truth_of_a_truncated_list(
    drawn: tuple[dict[str, float], Position],
) -> None:
    """However few alternatives come back, the true share of each label is inside its bounds."""
    true, position = drawn
    labelled = sum(true[label] for label in LABELS)
    shares = np.array([true[label] / labelled for label in LABELS])

    reading = read_position(position, LABELS)

    if reading.label_mass > 0.0:
        assert (reading.lower <= shares + 1e-12).all()
        assert (shares <= reading.upper + 1e-12).all()
        low, high = expectation_range(reading.lower, reading.upper)
        assert low - 1e-9 <= float(shares @ np.arange(5)) <= high + 1e-9
    assert reading.label_mass <= labelled + 1e-12


@given(truncated())
def test_shares_sum_to_one_and_lie_in_their_bounds(
    drawn: tuple[dict[str, float], Position],
) -> None:
    """What is said is consistent with what is said about it."""
    reading = read_position(drawn[1], LABELS)

    if reading.label_mass > 0.0:
        np.testing.assert_allclose(reading.p.sum(), 1.0, atol=1e-12)
    else:
        np.testing.assert_array_equal(reading.p, np.zeros(5))
    assert (reading.lower <= reading.p).all() and (reading.p <= reading.upper).all()
    assert (reading.lower >= 0.0).all() and (reading.upper <= 1.0).all()


@given(truncated(), st.permutations(range(5)))
def test_the_labels_order_changes_nothing(
    drawn: tuple[dict[str, float], Position], turn: list[int]
) -> None:
    """A label's share is its own, whatever stands before it in the list."""
    one = read_position(drawn[1], LABELS)
    other = read_position(drawn[1], tuple(LABELS[k] for k in turn))

    np.testing.assert_array_equal(one.p[turn], other.p)
    np.testing.assert_array_equal(one.lower[turn], other.lower)
    np.testing.assert_array_equal(one.upper[turn], other.upper)


@given(truncated(), st.sampled_from(["{}", " {}", "'{}'", "{}.", "**{}**", "({})", "\u0120{}"]))
def test_how_a_label_is_written_changes_nothing(
    drawn: tuple[dict[str, float], Position], written: str
) -> None:
    """Every label with the same marks around it reads as the bare label."""
    dressed = Position(
        "",
        tuple(
            Alternative(written.format(a.token) if a.token in LABELS else a.token, a.logprob)
            for a in drawn[1].alternatives
        ),
    )

    np.testing.assert_array_equal(
        read_position(dressed, LABELS).p, read_position(drawn[1], LABELS).p
    )


def test_case_is_kept_where_it_tells_labels_apart() -> None:
    """Folding would merge "a" and "A", so it is left out."""
    position = Position("a", (Alternative("a", math.log(0.75)), Alternative("A", math.log(0.25))))

    np.testing.assert_allclose(read_position(position, ("A", "a")).p, [0.25, 0.75])
    np.testing.assert_allclose(read_position(position, ("A", "B")).p, [1.0, 0.0])


def test_every_alternative_is_kept_with_its_label() -> None:
    """The evidence shows what was counted for what, and what was not."""
    found = (Alternative("A", math.log(0.5)), Alternative(" a", -2.0), Alternative("The", -3.0))

    reading = read_position(Position("A", found), ("A", "B"))

    assert [label for _, label in reading.counted] == ["A", "A", None]


def test_a_position_without_any_label_bounds_nothing() -> None:
    """Without label mass every share is possible."""
    reading = read_position(Position("The", (Alternative("The", -0.1),)), ("A", "B"))

    assert reading.label_mass == 0.0
    np.testing.assert_array_equal(reading.lower, [0.0, 0.0])
    np.testing.assert_array_equal(reading.upper, [1.0, 1.0])


@pytest.mark.parametrize("letter", string.ascii_uppercase + string.digits)
def test_every_mark_of_the_alphabets_survives_normalising(letter: str) -> None:
    """A label must not be taken for formatting, nor stripped away."""
    assert normalized(letter, fold=False) == letter
    assert not is_formatting(letter)


@pytest.mark.parametrize(
    "token",
    [
        "",
        " ",
        "\n\n",
        "```",
        "```json",
        "**",
        '"',
        "Answer",
        "answer:",
        " Label",
        "Option",
        "- ",
        "</think>",
    ],
)
def test_formatting_is_known(token: str) -> None:
    """Marks and the words that lead to a label."""
    assert is_formatting(token)


@pytest.mark.parametrize(
    "token", ["A", "The", "Answering", "I", "7", "Yes", "no", "\u4e2d", "None"]
)
def test_words_are_no_formatting(token: str) -> None:
    """A word that is no label is an answer of its own, and it is not one of the labels."""
    assert not is_formatting(token)


@pytest.mark.parametrize(
    ("value", "mass"),
    [
        pytest.param(-0.5, -0.5, id="plain"),
        pytest.param(0.0, 0.0, id="certain"),
        pytest.param(1e-7, 0.0, id="rounded"),
        pytest.param(-999.9, -999.9, id="small"),
        pytest.param(-1000.0, -math.inf, id="none"),
        pytest.param(-math.inf, -math.inf, id="infinite"),
    ],
)
def test_a_logprob_is_log_mass(value: float, mass: float) -> None:
    """At most 0, and none where servers say -1000 or less."""
    assert check_logprob(value, "A") == mass


@given(st.one_of(st.floats(min_value=1.1e-3), st.just(math.nan)))
def test_anything_above_is_an_error(value: float) -> None:
    """Positive values are probabilities or noise, never logprobs."""
    with pytest.raises(MalformedResponse, match="the logprob of 'A' is"):
        check_logprob(value, "A")
