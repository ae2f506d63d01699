"""Counting draws where no logprobs are shown."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import asyncio
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.errors import CapabilityError
from classify.language_model import Alternative, Capabilities, Position, Prompt, Reply, Sampling
from classify.readout import find_slot, written_label
from classify.sampling import wilson
from classify.testing.scripted import ScriptedLanguageModel, position_reply

BLIND = Capabilities(
    top_logprobs=0,
    scores_text=False,
    forms=frozenset({"chat"}),
    form="chat",
    readouts={"choice": "letters", "score": "digits", "boolean": "yes_no"},
)
ABC: Mapping[str, Any] = {"type": "choice", "criteria": dict.fromkeys(["ant", "bee", "cat"])}


def drawn(question: Mapping[str, Any], texts: Sequence[str], **options: Any) -> AnyAnswer:
    """Draw as many texts as given, in turn."""
    turn = cycle(texts)
    model = ScriptedLanguageModel(lambda _, __: Reply(next(turn)), capabilities=BLIND)
    classifier = Classifier(
        "c", model, {"q": question}, fallback="sample", samples=len(texts), **options
    )
    return asyncio.run(classifier.evaluate("text")).answers["q"]


@pytest.mark.parametrize(
    ("texts", "expected", "mass"),
    [
        # (n_k + 1/2) / (n + K/2): 6.5, 3.5 and 1.5 of 11.5
        pytest.param(
            ["A"] * 6 + ["B"] * 3 + ["C"], (6.5 / 11.5, 3.5 / 11.5, 1.5 / 11.5), 1.0, id="ten"
        ),
        # two draws are no labels: 6.5, 2.5, .5 of 9.5
        pytest.param(
            ["A"] * 6 + ["B"] * 2 + ["I", "no"], (6.5 / 9.5, 2.5 / 9.5, 0.5 / 9.5), 0.8, id="lost"
        ),
        # every one is B: .5, 4.5, .5 of 5.5
        pytest.param(["B"] * 4, (0.5 / 5.5, 4.5 / 5.5, 0.5 / 5.5), 1.0, id="unanimous"),
    ],
)
def test_draws_are_counted_and_smoothed(
    texts: list[str], expected: tuple[float, ...], mass: float
) -> None:
    """Jeffreys' posterior means; what is no label counts against the label mass."""
    found = drawn(ABC, texts)

    assert isinstance(found, ChoiceAnswer) and found.probabilities is not None
    assert tuple(found.probabilities.values()) == pytest.approx(expected)
    assert found.label_mass == pytest.approx(mass)
    assert found.method == "sampled"
    assert found.evidence is not None and found.evidence.draws is not None
    assert sum(found.evidence.draws.values()) == round(mass * len(texts))
    assert ["A", "B", "C"] == list(found.evidence.orders[0].labels)
    assert 64 == len(found.evidence.orders[0].prompt_hash)
    assert found.bounds is not None
    for option, (low, high) in found.bounds.items():
        assert 0.0 <= low <= found.probabilities[option] <= high <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "B",
        "b",
        " B.",
        "B: bee",
        "(B).",
        "**B**",
        "$B$",
        r"$\boxed{B}$",
        r"\boxed{B}",
        "B) bee",
        "`B`",
        r"\(B\)",
        "**B**: bee",
        "Answer: B",
        "Label: B",
        "Option B",
        "**Answer:** B",
        "**Answer: B**",
        "<answer>B</answer>",
        '{"answer": "B"}',
        "```json\nB\n```",
    ],
)
def test_a_label_is_read_through_its_markup(text: str) -> None:
    """Every one of these is an answer of B."""
    found = drawn(ABC, [text])

    assert isinstance(found, ChoiceAnswer) and found.choice == "bee"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None of the above",
        "Both A and B",
        "I cannot grade this.",
        "AB",
        "D",
        "The B",
        "A bad idea",
        "A.I. says",
        "B.C.",
        "B/C",
        "Answering B",
        "Option",
    ],
)
def test_prose_is_no_label(text: str) -> None:
    """A letter inside a sentence is not an answer: no verdict, not the first option."""
    found = drawn(ABC, [text])

    assert isinstance(found, NoVerdict)
    assert (found.cause, found.method, found.label_mass) == ("no_label", "sampled", 0.0)


@pytest.mark.parametrize("text", ["0.8", "3.5", "1,5", "3-4", "10", "-1", ".5", "0.8."])
def test_another_number_is_no_level(text: str) -> None:
    """The digits of a text are one number: 0.8 is not level 0, -1 not level 1."""
    found = drawn({"type": "score", "criteria": list("abcde")}, [text])

    assert isinstance(found, NoVerdict)
    assert (found.cause, found.label_mass) == ("no_label", 0.0)


def test_an_abbreviation_is_no_no() -> None:
    """No.1 is praise, No. is an answer."""
    assert isinstance(drawn({"type": "boolean"}, ["No.1"]), NoVerdict)
    assert isinstance(drawn({"type": "boolean"}, ["No."]), BooleanAnswer)


@pytest.mark.parametrize(
    "tokens",
    [
        ("B",),
        ("**", "B", "**"),
        ("Answer", ":", " B"),
        ("Label", ":", " B"),
        ("Option", " B"),
        ("**", "Answer", ":**", " B"),
        ("\\(", "B", "\\)"),
        ("\\(B", "\\)"),
        ("$\\", "boxed", "{", "B", "}$"),
        ("The", " answer", " is", " B"),
        ("Final", " answer", ":", " B"),
        ("\uff08", "B", "\uff09"),
        ("\u3010B", "\u3011"),
        ("B\uff1a",),
        ("Answering", " B"),
        ("D",),
    ],
    ids="".join,
)
def test_draws_and_slots_are_read_by_one_rule(tokens: tuple[str, ...]) -> None:
    """What stands before a label is passed over, or not, in a text as in front of a slot."""
    positions = [Position(token, (Alternative(token, -0.1),)) for token in tokens]
    slot = find_slot(positions, ("A", "B", "C"))
    read = slot is not None and slot[1].label_mass > 0.0

    assert (written_label("".join(tokens)) in ("a", "b", "c")) == read


@pytest.mark.parametrize(
    "tokens",
    [
        ("1", "0"),
        ("1", "00"),
        ("3", ".", "5"),
        ("3", "-", "4"),
        ("3", " -", " 4"),
        ("3", " to", " 4"),
        ("3", ", ", "4"),
        ("B", "/C"),
        ("B", " / ", "C"),
        ("B", " or", " C"),
        ("B", ", or", " C"),
        ("B", ", C"),
        ("B", "-C"),
        ("Yes", "/", "No"),
        ("Yes", " and", " no"),
        ("I", "'m", " sorry"),
        ("I", " cannot"),
    ],
    ids="".join,
)
def test_what_is_part_of_something_longer_is_no_label(tokens: tuple[str, ...]) -> None:
    """Nor one of two that are named, in a text as at a slot: B/C was B at a slot."""
    for whole in (tokens, ("**", *tokens, "**")):
        positions = [Position(token, (Alternative(token, -0.1),)) for token in whole]
        slot = find_slot(positions, (tokens[0], "Z"))

        assert slot is not None and slot[1].label_mass == 0.0
        assert written_label("".join(whole)) != tokens[0].casefold()


@pytest.mark.parametrize(
    "tokens",
    [
        ("3",),
        ("3", "/", "5"),
        ("3", " out", " of", " 5"),
        ("3", ".", "0"),
        ("3", "\n", "1"),
        ("B", "</answer>"),
        ("B", " - C", "at"),
        ("B", " - ", "A customer asks"),
        ("B", " \u2014", " I think so"),
        ("3", " -", " A good answer"),
        ("3", " \u2013", " I liked it"),
        ("Yes", " \u2014", " I agree"),
        ("I",),
        ("I", ")", " ibis"),
        ("I", ": the"),
        ("I", "\n", "The"),
        ("Yes", ", it"),
        ("Yes", ", and", " it"),
        ("No", ", no", " refund"),
    ],
    ids="".join,
)
def test_what_ends_in_front_of_more_is_a_label(tokens: tuple[str, ...]) -> None:
    """In a text as at a slot."""
    positions = [Position(token, (Alternative(token, -0.1),)) for token in tokens]
    slot = find_slot(positions, (tokens[0], "Z"))

    assert slot is not None and slot[1].label_mass > 0.0
    assert written_label("".join(tokens)) == tokens[0].casefold()


@pytest.mark.parametrize(
    "tokens", [("3", ",", " No"), ("3", ",", " A"), ("B", ",", " I")], ids="".join
)
def test_a_sentence_that_is_cut_names_no_second_label(tokens: tuple[str, ...]) -> None:
    """Three tokens are all that is seen at a slot of digits or nine letters."""
    positions = [Position(token, (Alternative(token, -0.1),)) for token in tokens]
    slot = find_slot(positions, (tokens[0], "Z"))

    assert slot is not None and slot[1].label_mass > 0.0


def test_what_was_drawn_instead_of_labels_is_kept() -> None:
    """The commonest first, at most five, each at most 200 characters; the labels are counted."""
    texts = ["I cannot grade this."] * 3 + ["A"] * 2 + ["No idea. " * 50] * 2 + list("123456")

    found = drawn(ABC, texts)

    assert isinstance(found, NoVerdict) and found.evidence is not None
    first, second, *others = found.evidence.written
    assert first == "I cannot grade this."
    assert second == ("No idea. " * 50)[:199] + "\u2026"
    assert others == ["1", "2", "3"]
    assert "cannot grade" not in found.message


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply("A", refusal="I will not."), "refusal"),
        (Reply("A", finish_reason="content_filter"), "content_filter"),
    ],
    ids=["refused", "filtered"],
)
def test_a_stopped_draw_is_no_label(reply: Reply, cause: str) -> None:
    """What stands beside a refusal is no answer, as at a slot."""
    model = ScriptedLanguageModel(lambda _, __: reply, capabilities=BLIND)
    classifier = Classifier("c", model, {"q": ABC}, fallback="sample", samples=3)

    found = asyncio.run(classifier.evaluate("text")).answers["q"]

    assert isinstance(found, NoVerdict)
    assert (found.cause, found.label_mass) == (cause, 0.0)


@pytest.mark.parametrize("text", ["", "<think>\nOkay, the user", "**Answer:** "])
def test_draws_that_end_before_a_label_are_truncated(text: str) -> None:
    """As at a slot: a model that thinks first has no token left to answer with."""
    model = ScriptedLanguageModel(
        lambda _, __: Reply(text, finish_reason="length"), capabilities=BLIND
    )
    classifier = Classifier("c", model, {"q": ABC}, fallback="sample", samples=3)

    found = asyncio.run(classifier.evaluate("text")).answers["q"]

    assert isinstance(found, NoVerdict)
    assert found.cause == "truncated"
    assert found.message.startswith("0 of 3 draws were labels")


def test_draws_that_are_cut_within_a_sentence_are_no_label() -> None:
    model = ScriptedLanguageModel(
        lambda _, __: Reply("The ticket is about a", finish_reason="length"), capabilities=BLIND
    )
    classifier = Classifier("c", model, {"q": ABC}, fallback="sample", samples=3)

    found = asyncio.run(classifier.evaluate("text")).answers["q"]

    assert isinstance(found, NoVerdict)
    assert found.cause == "no_label"


def test_too_few_labels_are_no_verdict() -> None:
    """The same floor as for logprobs."""
    found = drawn(ABC, ["A", "Hm", "Well", "So"])

    assert isinstance(found, NoVerdict)
    assert (found.cause, found.label_mass) == ("low_label_mass", 0.25)
    assert isinstance(drawn(ABC, ["A", "Hm", "Well", "So"], min_coverage=0.2), ChoiceAnswer)


def test_scores_and_booleans_are_drawn_too() -> None:
    """Levels by their digits (0, 1 and 2 of 3 draws each smoothed), booleans by yes and no."""
    score = drawn({"type": "score", "criteria": list("abc")}, ["2", "2", "1"])
    boolean = drawn({"type": "boolean"}, ["Yes", "yes.", "No"])

    assert isinstance(score, ScoreAnswer) and isinstance(boolean, BooleanAnswer)
    assert score.score == pytest.approx((1.5 + 2 * 2.5) / 4.5)
    assert boolean.probability == pytest.approx(2.5 / 4.0)


def test_no_fallback_is_the_default() -> None:
    """Draws cost twenty requests, so they are asked for by name."""
    model = ScriptedLanguageModel(lambda _, __: Reply("A"), capabilities=BLIND)

    with pytest.raises(CapabilityError, match="shows no logprobs"):
        asyncio.run(Classifier("c", model, {"q": ABC}).evaluate("text"))


def test_an_endpoint_that_hides_its_logprobs_is_drawn_from() -> None:
    """Logprobs promised and not given: the fallback is used, and each draw is its own request."""
    sent: list[Sampling] = []

    def reply(_: Prompt, sampling: Sampling) -> Reply:
        sent.append(sampling)
        return Reply("A")

    model = ScriptedLanguageModel(reply)
    classifier = Classifier("c", model, {"q": ABC}, fallback="sample", samples=5)

    evaluation = asyncio.run(classifier.evaluate("text"))

    assert evaluation.answers["q"].method == "sampled"
    assert [s.top_logprobs for s in sent] == [20, 0, 0, 0, 0, 0]
    assert {s.temperature for s in sent} == {1.0}
    assert evaluation.attempts == 6


def test_mixed_methods_are_said() -> None:
    """Where one question was read and another drawn, the evaluation warns."""

    def reply(prompt: Prompt, sampling: Sampling) -> Reply:
        hidden = "first" in str(prompt) or not sampling.top_logprobs
        return Reply("Yes") if hidden else position_reply({"Yes": -0.1})

    questions = {"first": {"type": "boolean"}, "other": {"type": "boolean"}}
    classifier = Classifier("c", ScriptedLanguageModel(reply), questions, fallback="sample")

    evaluation = asyncio.run(classifier.evaluate("text"))

    assert [a.method for a in evaluation.answers.values()] == ["sampled", "logprobs"]
    assert evaluation.warnings == (
        "the answers were obtained by different methods: logprobs, sampled",
    )


def test_more_options_than_letters_cannot_be_drawn() -> None:
    """One prompt has one label each: a clear error, no request."""
    criteria = {f"option {k}": None for k in range(27)}

    with pytest.raises(CapabilityError, match="'q' has 27 options, too many to draw"):
        drawn({"type": "choice", "criteria": criteria}, ["A"])


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_wilsons(drawn: tuple[int, int]) -> None:
    """Each end p is where the share is z standard errors of p away: (k/n - p)^2 = z^2 p(1-p)/n."""
    k, n = drawn
    z = 1.959963984540054

    low, high = wilson(k, n)

    assert 0.0 <= low <= k / n <= high <= 1.0
    for end in (low, high):
        assert (k / n - end) ** 2 == pytest.approx(z * z * end * (1 - end) / n, abs=1e-12)


def test_no_draws_say_nothing() -> None:
    """Every share is possible."""
    assert wilson(0, 0) == (0.0, 1.0)


def test_ten_draws_without_a_success_by_hand() -> None:
    """The upper end is z^2 / (n + z^2) = 3.8415 / 13.8415."""
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775327998628892))


def test_a_cut_surrogate_pair_can_be_written_to_a_file() -> None:
    found = drawn(ABC, ["?\ud83d"])

    assert isinstance(found, NoVerdict) and found.evidence is not None
    assert found.evidence.written == ("??",)
    assert found.model_dump_json()


@pytest.mark.parametrize("text", ["4/5", "4:good", "4.0", "2:30", "4. Good"])
def test_a_mark_behind_a_level_does_not_undo_it(text: str) -> None:
    """With or without formatting before it, in a text as at a slot."""
    for tokens in (tuple(text), ("**", *text, "**")):
        positions = [Position(token, (Alternative(token, -0.1),)) for token in tokens]
        slot = find_slot(positions, tuple("012345"))

        assert slot is not None and slot[1].label_mass > 0.0
        assert written_label("".join(tokens)) == text[0]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("B\n\nThe ticket is about", "b"),
        ("B\nexplanation", "b"),
        ("B, because", "b"),
        ("B - is b", "b"),
        ("**B** - is b", "b"),
        ("B (is b)", "b"),
        ("B;", "b"),
        ("B!", "b"),
        ("B\u3002", "b"),
        ("B\uff1a\u8d26\u5355", "b"),
        ("B\uff0c\u56e0\u4e3a", "b"),
        ("B\uff09\u8d26\u5355", "b"),
        ("Final answer: B", "b"),
        ("The answer is B", "b"),
        ("Yes, it is", "yes"),
        ("Yes, I think so", "yes"),
        ("No, I don't", "no"),
        ("3 out of 5", "3"),
        ("I cannot grade this", ""),
        ("A.I. says", ""),
        ("No.1", ""),
        ("A good question", ""),
        ("A, B", ""),
        ("A, or B", ""),
        ("A, and B", ""),
        ("A, I and B", ""),
        ("A\uff0cB", ""),
        ("3 - 4", ""),
    ],
)
def test_a_label_is_read_out_of_a_chat_reply(text: str, label: str) -> None:
    """A label that a mark or a line ends is an answer, an article before a word is none."""
    assert written_label(text) == label
