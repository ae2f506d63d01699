"""The twenty vectors: alternatives at one slot and the right result; more of each kind beside.

Probabilities are given and fed as their logs. The arithmetic of each value stands with it.
"""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import asyncio
import math
from collections.abc import Mapping
from typing import Any

import pytest

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.errors import CapabilityError, InvalidInput, LabelCollision, MalformedResponse
from classify.language_model import Alternative, Position, Prompt, Reply, Sampling
from classify.openai_shapes import Endpoint, read_reply
from classify.readout import find_slot
from classify.testing.scripted import ScriptedLanguageModel

ABC: Mapping[str, Any] = {"type": "choice", "criteria": dict.fromkeys(["ant", "bee", "cat"])}
AB: Mapping[str, Any] = {"type": "choice", "criteria": dict.fromkeys(["ant", "bee"])}
YES_NO: Mapping[str, Any] = {"type": "boolean"}


def levels(count: int) -> Mapping[str, Any]:
    """Return a score question of so many levels."""
    return {"type": "score", "criteria": [f"level {k}" for k in range(count)]}


def at(*alternatives: tuple[str, float], written: str | None = None) -> Position:
    """Return a position with the alternatives' probabilities turned into logprobs."""
    found = tuple(Alternative(token, math.log(p) if p else -math.inf) for token, p in alternatives)
    return Position(alternatives[0][0] if written is None else written, found)


def answer(
    question: Mapping[str, Any], *positions: Position, finish: str = "length", **options: Any
) -> Answer | NoVerdict:
    """Ask a question whose reply has these positions, of which the first is shown first."""

    def reply(_: Prompt, sampling: Sampling) -> Reply:
        shown = positions[: sampling.max_tokens]
        return Reply("".join(p.token for p in shown), shown, finish_reason=finish)

    classifier = Classifier("c", ScriptedLanguageModel(reply), {"q": question}, **options)
    return asyncio.run(classifier.evaluate("text")).answers["q"]


def choice(question: Mapping[str, Any], *positions: Position, **options: Any) -> ChoiceAnswer:
    """Return the answer to a choice question."""
    found = answer(question, *positions, **options)
    assert isinstance(found, ChoiceAnswer)
    return found


def score(question: Mapping[str, Any], *positions: Position, **options: Any) -> ScoreAnswer:
    """Return the answer to a score question."""
    found = answer(question, *positions, **options)
    assert isinstance(found, ScoreAnswer)
    return found


def no_verdict(question: Mapping[str, Any], *positions: Position, **options: Any) -> NoVerdict:
    """Return the no-verdict to a question."""
    found = answer(question, *positions, **options)
    assert isinstance(found, NoVerdict)
    return found


@pytest.mark.parametrize(
    ("alternatives", "mass", "expected"),
    [
        pytest.param(
            [("A", 0.6), (" A", 0.1), ("B", 0.2), ("a", 0.05), ("The", 0.05)],
            0.95,
            # .75/.95 and .20/.95
            {"ant": 0.7894736842105263, "bee": 0.21052631578947367, "cat": 0.0},
            id="V1",
        ),
        pytest.param(
            [("**C**", 0.25), ("C.", 0.125), ("(B)", 0.375), ("'A'", 0.25)],
            1.0,
            {"ant": 0.25, "bee": 0.375, "cat": 0.375},
            id="V1 marks",
        ),
        pytest.param(
            [("\u2581B", 0.5), ("\u0120b:", 0.25), ("[c]", 0.125), ("AB", 0.125)],
            0.875,
            # .75/.875 and .125/.875
            {"ant": 0.0, "bee": 0.8571428571428571, "cat": 0.14285714285714285},
            id="V1 word starts",
        ),
    ],
)
def test_v01_spellings_of_a_label_are_summed(
    alternatives: list[tuple[str, float]], mass: float, expected: dict[str, float]
) -> None:
    """White space, marks and case are the model's taste, not its answer."""
    found = choice(ABC, at(*alternatives))

    assert found.probabilities == pytest.approx(expected, abs=1e-12)
    assert found.label_mass == pytest.approx(mass, abs=1e-12)


def test_v01_an_unlisted_label_is_unseen() -> None:
    """Cat was among no alternatives: 0, and named in the evidence, bounded by what is left (0)."""
    found = choice(ABC, at(("A", 0.6), (" A", 0.1), ("B", 0.2), ("a", 0.05), ("The", 0.05)))

    assert found.evidence is not None and found.evidence.unseen == ("cat",)
    assert found.bounds is not None and found.bounds["cat"] == pytest.approx((0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize(
    ("alternatives", "p", "mass"),
    [
        # .7/.9
        pytest.param([("Yes", 0.5), ("YES", 0.1), (" yes", 0.1), ("No", 0.2)], 7 / 9, 0.9, id="V2"),
        # .2/.8
        pytest.param(
            [("no", 0.5), ("No.", 0.1), ("yes", 0.2), ("Nope", 0.2)], 0.25, 0.8, id="nope"
        ),
        # .6/.6
        pytest.param([('"Yes"', 0.6), ("Maybe", 0.4)], 1.0, 0.6, id="maybe"),
    ],
)
def test_v02_case_is_folded(alternatives: list[tuple[str, float]], p: float, mass: float) -> None:
    """YES and yes are one answer, Nope and Maybe are none."""
    found = answer(YES_NO, at(*alternatives))

    assert isinstance(found, BooleanAnswer)
    assert found.probability == pytest.approx(p, abs=1e-12)
    assert found.label_mass == pytest.approx(mass, abs=1e-12)


@pytest.mark.parametrize("count", [11, 12, 20], ids=["0-10", "0-11", "0-19"])
def test_v03_no_label_is_the_beginning_of_another(count: int) -> None:
    """Past ten levels "1" may begin "10": letters stand for the levels, and both ends are met."""
    last = chr(ord("A") + count - 1)

    top = score(levels(count), at((last, 1.0)))
    bottom = score(levels(count), at(("A", 1.0)))

    assert (bottom.score, top.score) == (0.0, count - 1)
    assert top.evidence is not None
    labels = list(top.evidence.orders[0].labels)
    assert not any(a != b and b.startswith(a) for a in labels for b in labels)


@pytest.mark.parametrize(
    ("alternatives", "value", "mass"),
    [
        # (8 x .7 + 7 x .1) / .8 = 6.3/.8
        pytest.param([("8", 0.7), ("85", 0.2), ("7", 0.1)], 7.875, 0.8, id="V4"),
        # (9 x .5 + 0 x .25) / .75 = 4.5/.75
        pytest.param([("9", 0.5), ("10", 0.25), ("0", 0.25)], 6.0, 0.75, id="ten"),
        # (3 x .375 + 4 x .375) / .75
        pytest.param([("3", 0.375), ("4", 0.375), ("3.5", 0.25)], 3.5, 0.75, id="decimals"),
    ],
)
def test_v04_nothing_off_the_scale_is_counted(
    alternatives: list[tuple[str, float]], value: float, mass: float
) -> None:
    """85 is not an 8, and its mass is missing from the label mass."""
    found = score(levels(10), at(*alternatives))

    assert found.score == pytest.approx(value, abs=1e-12)
    assert found.label_mass == pytest.approx(mass, abs=1e-12)


@pytest.mark.parametrize(
    ("alternatives", "options", "mass"),
    [
        pytest.param([("The", 0.9), ("4", 0.05)], {}, 0.05, id="V5"),
        pytest.param([("The", 0.501), ("4", 0.499)], {}, 0.499, id="just below"),
        pytest.param([("4", 0.6), ("The", 0.4)], {"min_coverage": 0.7}, 0.6, id="own floor"),
    ],
)
def test_v05_little_label_mass_is_no_verdict(
    alternatives: list[tuple[str, float]], options: Mapping[str, Any], mass: float
) -> None:
    """Neither the seen level nor zero: no verdict, with the mass and the evidence kept."""
    found = no_verdict(levels(5), at(*alternatives), **options)

    assert found.cause == "low_label_mass"
    assert found.label_mass == pytest.approx(mass, abs=1e-12)
    assert found.evidence is not None
    assert found.evidence.orders[0].alternatives[0].token == alternatives[0][0]


def test_v05_the_floor_is_the_callers() -> None:
    """With no floor, what is there is read."""
    found = score(levels(5), at(("The", 0.9), ("4", 0.05)), min_coverage=0.0)

    assert found.score == 4.0
    assert found.label_mass == pytest.approx(0.05)


@pytest.mark.parametrize(
    "alternatives",
    [
        pytest.param([("Sure", 0.98)], id="V6"),
        pytest.param([("I", 0.5), ("As", 0.4)], id="prose"),
        pytest.param([("5", 0.9), ("6", 0.1)], id="off the scale"),
    ],
)
def test_v06_no_label_at_all_is_no_verdict(alternatives: list[tuple[str, float]]) -> None:
    """Without any label there is nothing to normalise, whatever the floor."""
    for floor in (None, 0.0):
        found = no_verdict(levels(5), at(*alternatives), min_coverage=floor)

        assert (found.cause, found.label_mass) == ("no_label", 0.0)


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(Position("A", (Alternative('":', 0.0), Alternative("A", -9999.0))), id="V7"),
        pytest.param(Position("B", (Alternative("{", 0.0),)), id="brace"),
        pytest.param(
            Position("A", (Alternative("A", -9999.0), Alternative("B", -9999.0))),
            id="all ruled out",
        ),
    ],
)
def test_v07_constrained_decoding_is_flagged(position: Position) -> None:
    """The label was written, and the logprobs are those of something else."""
    assert no_verdict(AB, position).cause == "unusable_logprobs"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply("A"), id="V8 none"),
        pytest.param(Reply("A", (Position("A", ()),)), id="V8 empty top_logprobs"),
        pytest.param(Reply(""), id="V8 empty content"),
        pytest.param(
            Reply("\nA", (at(("\n", 1.0)), Position("A", ()))), id="V8 a position without any"
        ),
    ],
)
def test_v08_no_logprobs_is_a_capability_error(reply: Reply) -> None:
    """One clear error that names the model and where it is, and no second request."""

    class Somewhere(ScriptedLanguageModel):
        base_url = "https://models.example/v1"

    model = Somewhere(lambda _, __: reply)

    with pytest.raises(
        CapabilityError,
        match=r"scripted/scripted at https://models\.example/v1 returned no logprob",
    ):
        asyncio.run(Classifier("c", model, {"q": AB}).evaluate("text", max_retries=5))
    assert len(model.prompts) == 1


CHAT = {
    "logprobs": {
        "content": [
            {"token": "A", "logprob": -0.5, "top_logprobs": [{"token": "A", "logprob": -0.5}]}
        ]
    }
}
COMPLETIONS = {
    "logprobs": {"tokens": ["A"], "token_logprobs": [-0.5], "top_logprobs": [{"A": -0.5}]}
}
TEXT = {"text": "A", **COMPLETIONS}


@pytest.mark.parametrize("body", [CHAT, COMPLETIONS, TEXT], ids=["chat", "V9", "V9 text"])
def test_v09_both_shapes_are_read(body: Mapping[str, Any]) -> None:
    """Servers answer in either shape, and the slot is the same."""
    reply = read_reply({"choices": [body]}, Sampling(top_logprobs=5), Endpoint("m", "http://x"))

    found = find_slot(reply.positions, ("A", "B"))

    assert found is not None
    assert found[1].label_mass == pytest.approx(math.exp(-0.5))


@pytest.mark.parametrize(
    ("alternatives", "mass"),
    [
        pytest.param(
            [
                Alternative("8", math.log(0.3), b"8"),
                Alternative("8", math.log(0.2), b"\xef\xbc\x98"),
            ],
            0.5,
            id="V10 bytes",
        ),
        pytest.param(
            [Alternative("8", math.log(0.3)), Alternative("8", math.log(0.2))],
            0.5,
            id="V10 logprob",
        ),
        pytest.param(
            [Alternative("8", math.log(0.3), b"8"), Alternative("8", math.log(0.3), b"8")],
            0.3,
            id="a mere repetition",
        ),
    ],
)
def test_v10_equal_texts_of_different_tokens_are_summed(
    alternatives: list[Alternative], mass: float
) -> None:
    """Two tokens may look the same; one written down twice is still one."""
    found = score(levels(10), Position("8", tuple(alternatives)), min_coverage=0.0)

    assert found.label_mass == pytest.approx(mass, abs=1e-12)
    assert found.score == 8.0


@pytest.mark.parametrize(
    "positions",
    [
        pytest.param(
            [at(("\n", 1.0)), at(("7", 0.9), ("8", 0.1)), at((" (8", 1.0)), at(("8", 0.99))],
            id="V11 after",
        ),
        pytest.param(
            [
                at(("<think>", 1.0)),
                at(("8", 1.0)),
                at(("</think>", 1.0)),
                at(("7", 0.9), ("8", 0.1)),
            ],
            id="V11 before, in thoughts",
        ),
        pytest.param(
            [at(("Answer", 1.0)), at((":", 1.0)), at(("7", 0.9), ("8", 0.1)), at((" 8", 1.0))],
            id="V11 between",
        ),
    ],
)
def test_v11_the_slot_is_found_by_structure(positions: list[Position]) -> None:
    """An 8 elsewhere in the text is not the answer: 7 x .9 + 8 x .1 = 7.1."""
    assert score(levels(10), *positions).score == pytest.approx(7.1)


@pytest.mark.parametrize(
    ("tokens", "cause", "mass"),
    [
        pytest.param(["1", "0"], "low_label_mass", 0.05, id="10"),
        pytest.param(["1", ".", "5"], "low_label_mass", 0.05, id="1.5"),
        pytest.param(["1", ".5"], "low_label_mass", 0.05, id="1 and .5"),
        pytest.param(["Answer", ":", " 1", "0"], "low_label_mass", 0.05, id="after formatting"),
        # whatever follows a minus sign is no level
        pytest.param(["-", "1"], "no_label", 0.0, id="-1"),
    ],
)
def test_v04_a_digit_that_goes_on_is_another_number(
    tokens: list[str], cause: str, mass: float
) -> None:
    """Where the tokens after the slot show that the model wrote 10, its 1 is no level."""
    positions = tuple(at((t, 0.9), ("0", 0.05)) if "1" in t else at((t, 1.0)) for t in tokens)
    model = ScriptedLanguageModel(lambda _, __: Reply("".join(tokens), positions))

    found = asyncio.run(Classifier("c", model, {"q": levels(5)}).evaluate("text")).answers["q"]

    assert isinstance(found, NoVerdict)
    assert found.cause == cause
    assert found.label_mass == pytest.approx(mass)


@pytest.mark.parametrize("after", ["", ".", "\n", " of 4", ". 5", "\u5206", "\u0120is", "**"])
def test_v04_a_digit_that_ends_is_a_level(after: str) -> None:
    """What is set apart from a label, or a word of a script without spaces, changes nothing."""
    positions = tuple(at((token, 1.0)) for token in ("1", after) if token)
    model = ScriptedLanguageModel(lambda _, __: Reply(f"1{after}", positions))

    found = asyncio.run(Classifier("c", model, {"q": levels(5)}).evaluate("text")).answers["q"]

    assert isinstance(found, ScoreAnswer) and found.score == 1.0


@pytest.mark.parametrize(
    "options", [("A", "AB"), ("10", "1"), ("Yes", "yes "), ("a", "A")], ids=" and ".join
)
def test_v12_labels_stand_for_options_that_could_be_confused(options: tuple[str, str]) -> None:
    """Options that begin one another get letters, which do not."""
    question = {"type": "choice", "criteria": {o: "described" for o in options}}
    if len({option.strip().casefold() for option in options}) == 1:
        with pytest.raises(LabelCollision, match="have the same words") as raised:
            Classifier("c", ScriptedLanguageModel(lambda _, __: {}), {"q": question})
        assert all(repr(option) in str(raised.value) for option in options)
        question |= {"words": {options[0]: "first", options[1]: "second"}}

    found = choice(question, at(("B", 0.75), ("A", 0.25)))

    assert found.probabilities == pytest.approx(
        {sorted(options)[0]: 0.25, sorted(options)[1]: 0.75}
    )


@pytest.mark.parametrize("above", [1e-7, 1e-3], ids=["V13", "the most"])
def test_v13_rounding_above_zero_is_clipped(above: float) -> None:
    """A server that rounds is believed; the mass stays at most 1."""
    found = choice(AB, Position("A", (Alternative("A", above), Alternative("B", math.log(3e-7)))))

    assert found.label_mass == 1.0
    assert found.probabilities is not None
    # 1 / (1 + 3e-7)
    assert found.probabilities["ant"] == pytest.approx(0.9999997000000899, abs=1e-15)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, 0.0011, 0.7], ids=["V14 nan", "V14 inf", "above", "probability"]
)
def test_v14_what_is_no_logprob_is_an_error(value: float) -> None:
    """Nothing is guessed from numbers that cannot be logprobs, and the value is named."""
    with pytest.raises(MalformedResponse, match=f"of 'A' is {value!r}"):
        answer(AB, Position("A", (Alternative("A", value), Alternative("B", -1.0))))


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [(-0.1, -0.1, "1.80967"), (0.0, 0.0, "2"), (0.0005, 0.0004, "2"), (0.0, -2.9, "1.05502")],
    ids=["twice .9", "twice 1", "probabilities below the rounding", "just above rounding"],
)
def test_v14_what_sums_to_more_than_one_is_an_error(a: float, b: float, total: str) -> None:
    """Two answers cannot both be likelier than not: the sum is named, nothing is made of it."""
    with pytest.raises(
        MalformedResponse, match=rf"the 2 alternatives at 'A' sum to {total}, above 1"
    ):
        answer(AB, Position("A", (Alternative("A", a), Alternative("B", b))))


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("p", [0.5, 0.7, 0.9, 0.99])
def test_v13_rounded_logprobs_are_believed(p: float, decimals: int) -> None:
    """Few decimals carry the sum to 1.01 here, and never beyond exp(.05)."""
    rounded = [round(math.log(share), decimals) for share in (p, 1 - p)]

    found = choice(AB, Position("A", (Alternative("A", rounded[0]), Alternative("B", rounded[1]))))

    assert found.probabilities is not None
    assert found.probabilities["ant"] == pytest.approx(p, abs=0.025)


@pytest.mark.parametrize("nothing", [-math.inf, -1000.0, -9999.0, -3.4e38], ids=repr)
def test_v14_minus_infinity_and_its_stand_ins_are_no_mass(nothing: float) -> None:
    """No probability at all is legal, and the label was seen to have none."""
    found = choice(AB, Position("B", (Alternative("B", 0.0), Alternative("A", nothing))))

    assert found.probabilities == {"ant": 0.0, "bee": 1.0}


@pytest.mark.parametrize("count", [21, 30, 255])
def test_v15_v17_more_options_than_alternatives_are_all_answered_or_bounded(count: int) -> None:
    """A model that always answers A: the first is found, all others have a bound, none a value."""
    question = {"type": "choice", "criteria": {f"{k:03}": None for k in range(count)}}

    found = choice(question, at(("A", 0.96), ("B", 0.03)))

    assert found.method == "tree"
    assert found.choice == "000"
    assert found.probabilities is not None and found.bounds is not None
    assert set(found.probabilities) == set(found.bounds) == set(question["criteria"])
    for option, p in found.probabilities.items():
        low, high = found.bounds[option]
        assert 0.0 <= low <= p <= high
        assert high > 0.0


@pytest.mark.parametrize(
    ("alternatives", "bounds"),
    [
        pytest.param(
            # S = .9, rest .1, least .2: the three unseen have together at most .1, each at most .1
            [("A", 0.7), ("B", 0.2)],
            {"0": (0.7, 0.7 / 0.9), "1": (0.2, 0.2 / 0.9), "2": (0.0, 0.1)},
            id="V17 by what is left",
        ),
        pytest.param(
            # S = .8, rest .19, least .01: three unseen have at most .03 together, .01 each
            [("A", 0.5), ("B", 0.3), ("The", 0.01)],
            {"0": (0.5 / 0.83, 0.5 / 0.8), "1": (0.3 / 0.83, 0.3 / 0.8), "2": (0.0, 0.01 / 0.81)},
            id="V17 by the least",
        ),
        pytest.param(
            # nothing is left: an unseen label has none
            [("A", 0.75), ("B", 0.25)],
            {"0": (0.75, 0.75), "1": (0.25, 0.25), "2": (0.0, 0.0)},
            id="nothing left",
        ),
    ],
)
def test_v17_unseen_options_are_bounded(
    alternatives: list[tuple[str, float]], bounds: dict[str, tuple[float, float]]
) -> None:
    """Never a hard zero, never an invented -30: [0, U1/(S+U1)], and the seen give way to them."""
    question = {"type": "choice", "criteria": dict.fromkeys("01234")}

    found = choice(question, at(*alternatives))

    assert found.evidence is not None and found.evidence.unseen == ("2", "3", "4")
    assert found.bounds is not None
    expected = bounds | {"3": bounds["2"], "4": bounds["2"]}
    for option, ends in expected.items():
        assert found.bounds[option] == pytest.approx(ends, abs=1e-12), option


@pytest.mark.parametrize(
    "token", ["\n", "```", "**", '"', "Answer", " Label:", "(", "\u2581", "$", "\\boxed", "- "]
)
def test_v16_formatting_is_not_the_answer(token: str) -> None:
    """Asked again for a few tokens, the first position that carries a label is read."""
    found = choice(AB, at((token, 0.9)), at(("B", 0.8), ("A", 0.2)))

    assert found.probabilities == pytest.approx({"ant": 0.2, "bee": 0.8})
    assert found.evidence is not None and found.evidence.orders[0].position == 1
    assert found.evidence.attempts == 2


def test_v16_thoughts_are_not_the_answer() -> None:
    """What stands between the think marks is skipped, labels included."""
    found = choice(
        AB, at(("<think>", 1.0)), at(("A", 1.0)), at(("</think>\n", 1.0)), at(("B", 1.0))
    )

    assert found.choice == "bee"


@pytest.mark.parametrize(
    "tokens",
    [
        ["<", "think", ">", "\n", "A", " looks", " wrong"],
        ["<th", "ink>", "A", "?", "</", "think", ">", "B"],
        ["[THINK]", "A", " looks", " wrong"],
        ["[", "TH", "INK", "]", "A", "[/THINK]", "B"],
        ["<think", ">A", ",", "A", "</think>", "\n", "B"],
        ["<|think|>", "A", " looks"],
    ],
    ids="".join,
)
def test_v16_thoughts_are_told_by_the_whole_text(tokens: list[str]) -> None:
    """However the marks fall into tokens, an A inside them is no answer."""
    positions = tuple(at((token, 1.0)) for token in tokens)
    model = ScriptedLanguageModel(lambda _, __: Reply("".join(tokens), positions))

    found = asyncio.run(Classifier("c", model, {"q": AB}).evaluate("text")).answers["q"]

    if tokens[-1] == "B":
        assert isinstance(found, ChoiceAnswer) and found.choice == "bee"
    else:
        assert isinstance(found, NoVerdict) and found.cause == "no_label"


def test_v16_a_code_fence_in_pieces_is_formatting() -> None:
    """The fence's language is no answer."""
    fence = [at(("```", 1.0)), at(("json", 1.0)), at(("\n", 1.0))]

    assert choice(AB, *fence, at(("B", 1.0))).choice == "bee"


def test_v16_a_label_behind_a_drawn_mark_is_still_the_slot() -> None:
    """Sampling may draw a mark where the labels hold most of the mass."""
    found = choice(AB, at(("A", 0.7), ("B", 0.1), ("\n", 0.2), written="\n"))

    assert found.probabilities == pytest.approx({"ant": 0.875, "bee": 0.125})


@pytest.mark.parametrize(
    ("declared", "alternatives", "first", "tie"),
    [
        pytest.param(["ant", "bee"], [("A", 0.5), ("B", 0.5)], "ant", True, id="V18"),
        pytest.param(["bee", "ant"], [("A", 0.5), ("B", 0.5)], "bee", True, id="V18 reversed"),
        pytest.param(["bee", "ant"], [("A", 0.51), ("B", 0.49)], "ant", False, id="no tie"),
        pytest.param(
            ["cat", "bee", "ant"], [("A", 0.4), ("C", 0.4), ("B", 0.2)], "cat", True, id="of three"
        ),
    ],
)
def test_v18_a_tie_goes_to_the_first_declared(
    declared: list[str], alternatives: list[tuple[str, float]], first: str, tie: bool
) -> None:
    """An exact tie is decided by the author's order, and said."""
    found = choice({"type": "choice", "criteria": dict.fromkeys(declared)}, at(*alternatives))

    assert (found.choice, found.tie) == (first, tie)


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        pytest.param(Reply("", refusal="I cannot"), "refusal", id="V19 refusal"),
        pytest.param(
            Reply("A", (at(("A", 1.0)),), refusal="I cannot"), "refusal", id="refusal with tokens"
        ),
        pytest.param(Reply("", finish_reason="content_filter"), "content_filter", id="V19 filter"),
        pytest.param(
            Reply("A", (at(("A", 1.0)),), finish_reason="content_filter"),
            "content_filter",
            id="filter with tokens",
        ),
        pytest.param(
            Reply("\n", (at(("\n", 1.0)),), finish_reason="length"), "truncated", id="V19 length"
        ),
        pytest.param(
            Reply("<think>", (at(("<think>", 1.0)), at(("A", 1.0))), finish_reason="length"),
            "truncated",
            id="length in thoughts",
        ),
        pytest.param(
            Reply("\n", (at(("\n", 1.0)),), finish_reason="stop"), "no_label", id="only formatting"
        ),
    ],
)
def test_v19_a_stopped_answer_keeps_its_cause(reply: Reply, cause: str) -> None:
    """Refused, filtered or cut off: no verdict, and which of them."""
    model = ScriptedLanguageModel(lambda _, __: reply)

    found = asyncio.run(Classifier("c", model, {"q": AB}).evaluate("text")).answers["q"]

    assert isinstance(found, NoVerdict)
    assert (found.cause, found.kind) == (cause, "choice")
    assert found.evidence is not None
    assert found.evidence.written == tuple(t for t in (reply.text, reply.refusal) if t)


def test_v06_what_was_written_instead_is_kept() -> None:
    """Beside the alternatives, in the evidence and not in the message, which may be logged."""
    found = no_verdict(AB, at(("Sure", 0.98)))

    assert found.evidence is not None and found.evidence.written == ("Sure",)
    assert "Sure" not in found.message
    assert answer(AB, at(("A", 1.0))).evidence.written == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("alternatives", "p", "bounds"),
    [
        pytest.param([("Yes", 0.97)], 1.0, (0.97, 1.0), id="V20"),
        # S = .6, least .1, rest .3: no has at most .1
        pytest.param([("Yes", 0.6), ("Well", 0.1)], 1.0, (0.6 / 0.7, 1.0), id="by the least"),
        # yes unseen: at most .03 of 1
        pytest.param([("No", 0.97)], 0.0, (0.0, 0.03), id="only no"),
    ],
)
def test_v20_one_seen_side_leaves_a_bounded_other(
    alternatives: list[tuple[str, float]], p: float, bounds: tuple[float, float]
) -> None:
    """P(true) is known to lie between two ends, and both are said."""
    found = answer(YES_NO, at(*alternatives))

    assert isinstance(found, BooleanAnswer)
    assert found.probability == p
    assert found.bounds is not None and found.bounds["true"] == pytest.approx(bounds, abs=1e-12)
    assert found.evidence is not None and len(found.evidence.unseen) == 1


def test_every_digit_may_be_small() -> None:
    """Eleven levels at .0091 each are a label mass of .1, not a division by zero."""
    eleven = at(*((chr(ord("A") + k), 0.0091) for k in range(11)), written="The")

    found = score(levels(11), eleven, min_coverage=0.05)

    assert found.label_mass == pytest.approx(0.1001)
    assert found.score == pytest.approx(5.0)


def test_yes_no_is_refused_for_a_choice_before_any_request() -> None:
    """A readout that cannot carry the options costs nothing to find out."""
    model = ScriptedLanguageModel(lambda _, __: {"Yes": 0.0})

    with pytest.raises(InvalidInput, match="'q': the readout yes_no answers boolean questions"):
        asyncio.run(Classifier("c", model, {"q": AB}, readout="yes_no").evaluate("text"))
    assert model.prompts == []
