"""Orders and trees, asked of language models whose true distribution is known."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import asyncio
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.errors import CapabilityError, ProviderError
from classify.language_model import (
    Alternative,
    Capabilities,
    ChatPrompt,
    Position,
    Prompt,
    Reply,
    Sampling,
    Usage,
)
from classify.questions import Choice
from classify.testing.scripted import ScriptedLanguageModel, position_reply

LINE = re.compile(r"^([A-Z]|[0-9]|Yes|No): (.*)$", re.MULTILINE)
Weigh = Callable[[int, str], float]
"""(position in the listing, option or group as listed) -> log weight of its label."""


def listed(prompt: Prompt) -> list[tuple[str, str]]:
    """Return label and text of each line that a prompt lists, in order."""
    assert isinstance(prompt, ChatPrompt)
    return LINE.findall(prompt.messages[1].content.split("<state>")[0])


def chooser(weigh: Weigh, *, top: int = 20) -> ScriptedLanguageModel:
    """Return a model that answers with the labels listed, by weight, and shows the top ones."""

    def reply(prompt: Prompt, _: Sampling) -> Reply:
        lines = listed(prompt)
        logs = np.array([weigh(k, text) for k, (_, text) in enumerate(lines)])
        logs = logs - np.log(np.exp(logs).sum())
        ranked = sorted(zip(logs.tolist(), (label for label, _ in lines), strict=True))[::-1]
        return position_reply({label: log for log, label in ranked[:top]})

    return ScriptedLanguageModel(reply, capabilities=chat(top))


def chat(top: int) -> Capabilities:
    """Return what a chat endpoint with so many alternatives can do."""
    return Capabilities(
        top_logprobs=top,
        scores_text=False,
        forms=frozenset({"chat"}),
        form="chat",
        readouts={"choice": "letters", "score": "digits", "boolean": "yes_no"},
    )


def asked(model: ScriptedLanguageModel, question: Mapping[str, Any], **options: Any) -> AnyAnswer:
    """Put one question to the model about a text."""
    classifier = Classifier("c", model, {"q": question}, **options)
    return asyncio.run(classifier.evaluate("text")).answers["q"]


def choice(model: ScriptedLanguageModel, options: list[str], **settings: Any) -> ChoiceAnswer:
    """Return the answer to a choice of these options."""
    criteria = dict.fromkeys(options)
    answer = asked(model, {"type": "choice", "criteria": criteria}, **settings)
    assert isinstance(answer, ChoiceAnswer)
    return answer


def known(p: Mapping[str, float]) -> Weigh:
    """Weigh a group by what its options have together, wherever it stands."""
    return lambda _, text: math.log(sum(p[option] for option in text.split("; ")))


def even(_: int, __: str) -> float:
    """Weigh every label alike."""
    return 0.0


def names(count: int) -> list[str]:
    """Return so many option names."""
    return [f"option {k:03}" for k in range(count)]


weights = st.lists(st.floats(1e-3, 1.0), min_size=2, max_size=8)
biases = st.lists(st.floats(-3.0, 3.0), min_size=8, max_size=8)


@settings(max_examples=40, deadline=None)
@given(weights, biases)
def test_all_rotations_cancel_a_preference_for_positions(
    mass: list[float], bias: list[float]
) -> None:
    """With K rotations of K options, whatever each position adds is gone."""
    options = names(len(mass))
    log = dict(zip(options, np.log(mass).tolist(), strict=True))
    model = chooser(lambda position, option: log[option] + bias[position])

    found = choice(model, options, orders=len(options))

    assert found.probabilities is not None
    expected = np.array(mass) / np.sum(mass)
    np.testing.assert_allclose(list(found.probabilities.values()), expected, atol=1e-12)
    assert found.evidence is not None and len(found.evidence.orders) == len(options)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 0.99), biases)
def test_both_orders_cancel_a_preference_in_booleans(p: float, bias: list[float]) -> None:
    """Yes/No and No/Yes: the first place's advantage is gone."""
    log = {"yes": math.log(p), "no": math.log(1 - p)}
    model = chooser(lambda position, option: log[option] + bias[position])

    found = asked(model, {"type": "boolean"}, orders=2)

    assert isinstance(found, BooleanAnswer)
    assert found.probability == pytest.approx(p, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(weights, st.floats(-1.0, 1.0))
def test_the_reverse_listing_cancels_a_drift_in_scores(mass: list[float], drift: float) -> None:
    """Levels are never rotated; what grows or falls along the list cancels in its reverse."""
    levels = [f"level {k}" for k in range(len(mass))]
    log = dict(zip(levels, np.log(mass).tolist(), strict=True))
    model = chooser(lambda position, level: log[level] + drift * position)

    found = asked(model, {"type": "score", "criteria": levels}, orders=2)

    assert isinstance(found, ScoreAnswer) and found.probabilities is not None
    expected = np.array(mass) / np.sum(mass)
    np.testing.assert_allclose(list(found.probabilities.values()), expected, atol=1e-12)
    assert found.score == pytest.approx(float(expected @ np.arange(len(mass))), abs=1e-9)
    assert found.evidence is not None
    assert [list(order.labels) for order in found.evidence.orders] == [
        [str(k) for k in range(len(mass))],
        [str(k) for k in range(len(mass))][::-1],
    ]


@settings(max_examples=30, deadline=None)
@given(weights, biases, st.randoms(use_true_random=False), st.integers(1, 8))
def test_how_the_options_are_declared_changes_no_bit(
    mass: list[float], bias: list[float], shuffler: Any, orders: int
) -> None:
    """The listing is canonical: the same prompts, the same numbers, to the last bit."""
    options = names(len(mass))
    log = dict(zip(options, np.log(mass).tolist(), strict=True))
    other = list(options)
    shuffler.shuffle(other)
    one_model = chooser(lambda position, option: log[option] + bias[position])
    other_model = chooser(lambda position, option: log[option] + bias[position])

    one = choice(one_model, options, orders=orders)
    two = choice(other_model, other, orders=orders)

    assert one_model.prompts == other_model.prompts
    assert one.probabilities == two.probabilities
    assert one.bounds == two.bounds


def test_orders_that_disagree_are_reported() -> None:
    """A model that answers by slot flips, and the evidence says how often and how far."""
    model = chooser(lambda position, _: math.log(0.8) if position == 0 else math.log(0.2))

    found = choice(model, ["ant", "bee"], orders=2)

    assert found.evidence is not None
    assert found.evidence.flips == 1
    assert found.evidence.total_variation == pytest.approx(0.6)
    assert found.tie
    first, second = found.evidence.orders
    assert first.labels == {"A": "ant", "B": "bee"}
    assert second.labels == {"A": "bee", "B": "ant"}
    assert first.probabilities["ant"] == pytest.approx(0.8)
    assert second.probabilities["ant"] == pytest.approx(0.2)
    assert first.prompt_hash != second.prompt_hash


def test_a_model_that_answers_by_text_never_flips() -> None:
    """The order sensitivity of a steady model is zero."""
    model = chooser(known({"ant": 0.7, "bee": 0.2, "cat": 0.1}))

    found = choice(model, ["ant", "bee", "cat"], orders=3)

    assert found.evidence is not None
    assert found.evidence.flips == 0
    assert found.evidence.total_variation == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("choice", 3), ("score", 2), ("boolean", 2)],
    ids=["choice", "score", "bool"],
)
def test_no_more_orders_are_asked_than_there_are(kind: str, count: int) -> None:
    """One per option of a choice, two of anything else."""
    criteria = {"choice": dict.fromkeys("abc"), "score": list("abc"), "boolean": None}[kind]
    model = chooser(even)

    asked(model, {"type": kind, "criteria": criteria}, orders=99)

    assert len(model.prompts) == count


TREES = [(21, 20), (30, 20), (30, 5), (255, 20), (255, 5), (255, 2), (27, 26), (3, 2)]


@pytest.mark.parametrize(("count", "top"), TREES, ids=lambda value: str(value))
def test_a_whole_tree_is_the_flat_distribution(count: int, top: int) -> None:
    """Opened to the end, groups multiply out to the options' own probabilities."""
    p = dict(zip(names(count), np.random.default_rng(count).dirichlet(np.ones(count)), strict=True))

    found = choice(chooser(known(p), top=top), names(count), tree_tolerance=0.0)

    assert found.method == "tree"
    assert found.probabilities is not None and found.evidence is not None
    np.testing.assert_allclose(list(found.probabilities.values()), list(p.values()), atol=1e-12)
    assert found.evidence.unexplored == 0.0 and found.evidence.unseen == ()
    assert found.choice == max(p, key=p.__getitem__)


@pytest.mark.parametrize(("count", "top"), TREES, ids=lambda value: str(value))
@pytest.mark.parametrize("tolerance", [0.05, 0.3])
def test_what_a_tree_leaves_closed_is_bounded(count: int, top: int, tolerance: float) -> None:
    """Likeliest first, until little is left: unopened options have bounds that hold the truth."""
    p = dict(
        zip(names(count), np.random.default_rng(7).dirichlet(np.full(count, 0.1)), strict=True)
    )

    found = choice(chooser(known(p), top=top), names(count), tree_tolerance=tolerance)

    assert found.evidence is not None and found.probabilities is not None and found.bounds
    assert found.evidence.unexplored <= tolerance
    assert sum(found.probabilities.values()) == pytest.approx(1.0, abs=1e-12)
    for option, (low, high) in found.bounds.items():
        assert low - 1e-12 <= p[option] <= high + 1e-12
        if option in found.evidence.unseen:
            assert found.probabilities[option] == low == 0.0


def test_a_tree_asks_no_more_than_it_must() -> None:
    """A model that is sure opens one path: as many requests as the tree is deep."""
    p = dict.fromkeys(names(255), 1e-9) | {"option 123": 1.0}
    model = chooser(known(p), top=20)

    found = choice(model, names(255))

    assert found.choice == "option 123"
    assert len(model.prompts) == 2
    assert found.evidence is not None and found.evidence.orders[1].path != ()


def test_a_tree_lists_every_option_once() -> None:
    """The first prompt holds all options, in groups no larger than the next can resolve."""
    model = chooser(even, top=20)

    choice(model, names(255), tree_tolerance=0.0)

    groups = [text.split("; ") for _, text in listed(model.prompts[0])]
    assert [option for group in groups for option in group] == names(255)
    assert max(map(len, groups)) <= 20 and len(groups) <= 20


def test_rotations_of_a_tree_cancel_too() -> None:
    """Each order has a tree of its own, and the mean over them is the flat distribution."""
    p = dict(zip(names(6), [0.3, 0.25, 0.2, 0.1, 0.1, 0.05], strict=True))

    found = choice(chooser(known(p), top=3), names(6), orders=3, tree_tolerance=0.0)

    assert found.probabilities == pytest.approx(p, abs=1e-12)


def test_a_group_without_a_reading_stays_bounded() -> None:
    """Where one branch gives nothing but prose, the others still answer."""
    p = {name: 1 / 6 for name in names(6)}
    whole = chooser(known(p), top=3)

    def reply(prompt: Prompt, sampling: Sampling) -> Reply:
        if "option 000" in listed(prompt)[0][1] and ";" not in listed(prompt)[0][1]:
            return position_reply({"Sorry": -0.01})
        return asyncio_free(whole, prompt, sampling)

    model = ScriptedLanguageModel(reply, capabilities=chat(3))
    found = choice(model, names(6), tree_tolerance=0.0, min_coverage=0.3)

    assert found.evidence is not None and found.bounds is not None
    assert set(found.evidence.unseen) == {"option 000", "option 001", "option 002"}
    assert found.bounds["option 000"] == pytest.approx((0.0, 0.5))
    assert found.evidence.unexplored == pytest.approx(0.5)


def asyncio_free(model: ScriptedLanguageModel, prompt: Prompt, sampling: Sampling) -> Reply:
    """Ask another scripted model in between."""
    waiting = model.complete(prompt, sampling, options={})
    try:
        waiting.send(None)
    except StopIteration as done:
        reply = done.value
        assert isinstance(reply, Reply)
        return reply
    raise AssertionError("a scripted model does not wait")


def test_one_option_is_not_asked() -> None:
    """There is nothing to choose: certain, and free."""
    model = chooser(even)

    found = choice(model, ["only"])

    assert found.probabilities == {"only": 1.0}
    assert model.prompts == []


def test_reasons_come_before_the_verdict() -> None:
    """The model writes first; the label is asked after its own words, in every order."""

    def reply(prompt: Prompt, sampling: Sampling) -> Reply:
        if sampling.max_tokens > 8:
            return Reply("  It hums, B: so a bee.  ")
        return position_reply({"B": math.log(0.9), "A": math.log(0.1)})

    model = ScriptedLanguageModel(reply)

    found = choice(model, ["ant", "bee"], reasoning=True, orders=2)

    assert found.evidence is not None
    assert found.evidence.reason == "It hums, B: so a bee."
    assert found.evidence.attempts == 3
    first, *labels = model.prompts
    assert isinstance(first, ChatPrompt)
    assert "Answer with one label" not in first.messages[-1].content
    for prompt in labels:
        assert isinstance(prompt, ChatPrompt)
        assert [m.role for m in prompt.messages] == ["system", "user", "assistant", "user"]
        assert prompt.messages[2].content == "It hums, B: so a bee."


def test_a_reason_is_kept_where_there_is_no_verdict() -> None:
    """What the model wrote is evidence either way."""

    def reply(_: Prompt, sampling: Sampling) -> Reply:
        return Reply("Hard.") if sampling.max_tokens > 8 else position_reply({"Hm": -0.1})

    found = asked(ScriptedLanguageModel(reply), {"type": "boolean"}, reasoning=True)

    assert isinstance(found, NoVerdict) and found.evidence is not None
    assert found.evidence.reason == "Hard."


def reasoned(reason: Reply) -> AnyAnswer:
    """Ask a boolean of a model that writes this reason and then says yes."""

    def reply(_: Prompt, sampling: Sampling) -> Reply:
        return reason if sampling.max_tokens > 8 else position_reply({"Yes": -0.01})

    return asked(ScriptedLanguageModel(reply), {"type": "boolean"}, reasoning=True)


def test_a_reason_that_was_cut_off_is_said() -> None:
    """The verdict is conditioned on half a reason: it stands, with a warning."""
    found = reasoned(Reply("It hums, but", finish_reason="length"))

    assert isinstance(found, BooleanAnswer) and found.evidence is not None
    assert found.evidence.reason == "It hums, but"
    assert found.evidence.warnings == ("question 'q': the reason was cut off",)
    whole = reasoned(Reply("It hums.", finish_reason="stop"))
    assert whole.evidence is not None and whole.evidence.warnings == ()


def test_a_warning_about_the_reason_stays_without_a_verdict() -> None:
    """It may be why there is none, and the evaluation says it too."""

    def reply(_: Prompt, sampling: Sampling) -> Reply:
        half = Reply("Hard, as", finish_reason="length")
        return half if sampling.max_tokens > 8 else position_reply({"Hm": -0.1})

    model = ScriptedLanguageModel(reply)
    classifier = Classifier("c", model, {"q": {"type": "boolean"}}, reasoning=True)
    found = classifier.evaluate_sync("text")

    assert isinstance(found.answers["q"], NoVerdict)
    assert found.warnings == ("question 'q': the reason was cut off",)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        pytest.param(Reply("", refusal="I will not."), "refusal", id="refused"),
        pytest.param(Reply("Well,", refusal="I will not."), "refusal", id="refused halfway"),
        pytest.param(Reply("", finish_reason="content_filter"), "content_filter", id="filtered"),
        pytest.param(Reply("", finish_reason="length"), "truncated", id="thought too long"),
        pytest.param(Reply(" \n", finish_reason="stop"), "no_label", id="empty"),
    ],
)
def test_without_a_reason_there_is_no_verdict(reason: Reply, cause: str) -> None:
    """Reasons were asked for: an answer after none would be another method's."""
    found = reasoned(reason)

    assert isinstance(found, NoVerdict)
    assert found.cause == cause
    assert found.evidence is not None and found.evidence.attempts == 1


def test_no_reason_is_asked_by_default() -> None:
    """Reasoning sharpens and misleads, so it is off."""
    found = choice(chooser(even), ["ant", "bee"])

    assert found.evidence is not None and found.evidence.reason is None


def test_the_first_failing_order_ends_the_others() -> None:
    """The error itself is raised, not a group of errors."""
    error = ProviderError("gone", status=410)

    def reply(prompt: Prompt, _: Sampling) -> Reply:
        if listed(prompt)[0][1] == "bee":
            raise error
        return position_reply({"A": -0.1})

    with pytest.raises(ProviderError, match="gone") as raised:
        choice(ScriptedLanguageModel(reply), ["ant", "bee", "cat"], orders=3)
    assert raised.value is error


def test_an_order_without_a_reading_is_no_verdict() -> None:
    """An average over the orders that happened to work would depend on the order again."""

    def reply(prompt: Prompt, _: Sampling) -> Reply:
        if listed(prompt)[0][1] == "bee":
            return position_reply({"Sorry": -0.1})
        return position_reply({"A": -0.1})

    model = ScriptedLanguageModel(reply)
    found = asked(model, {"type": "choice", "criteria": dict.fromkeys(["ant", "bee"])}, orders=2)

    assert isinstance(found, NoVerdict)
    assert found.cause == "no_label"
    assert found.evidence is not None and len(found.evidence.orders) == 2


def test_an_endpoint_without_logprobs_is_not_asked() -> None:
    """What it cannot do is known before anything is spent, and the ways out are named."""
    model = ScriptedLanguageModel(lambda _, __: {"A": 0.0}, capabilities=chat(0))

    with pytest.raises(CapabilityError, match=r'shows no logprobs; .* fallback="sample"'):
        choice(model, ["ant", "bee"])
    assert model.prompts == []


def test_evidence_keeps_what_was_seen() -> None:
    """Alternatives with their labels, the model, the fingerprint, the tokens: enough to audit."""
    seen = (Alternative("A", -0.1), Alternative("The", -3.0), Alternative("B", -math.inf))
    reply = Reply(
        "A", (Position("A", seen),), model="scripted-2", response_id="r1", system_fingerprint="f1"
    )

    found = choice(ScriptedLanguageModel(lambda _, __: reply), ["ant", "bee"])

    evidence = found.evidence
    assert evidence is not None
    assert (evidence.readout, evidence.prompt_form) == ("letters", "chat")
    assert (evidence.requested_model, evidence.reported_model) == ("scripted", "scripted-2")
    assert (evidence.system_fingerprint, evidence.attempts) == ("f1", 1)
    order = evidence.orders[0]
    assert [(t.token, t.logprob, t.label) for t in order.alternatives] == [
        ("A", -0.1, "A"),
        ("The", -3.0, None),
        ("B", None, "B"),
    ]
    assert (order.position, order.response_id, len(order.prompt_hash)) == (0, "r1", 64)


def test_evidence_never_holds_the_state() -> None:
    """What was judged stays with the one who gave it: only the prompt's hash is kept."""
    classifier = Classifier("c", chooser(even), {"q": {"type": "boolean"}})

    evaluation = asyncio.run(classifier.evaluate("SECRET"))

    assert "SECRET" not in evaluation.model_dump_json()


def test_an_answer_that_ends_before_its_first_token_is_no_verdict() -> None:
    """The endpoint shows logprobs and had none to show: no lack of it, and nothing to read."""

    def reply(prompt: Prompt, sampling: Sampling) -> Reply:
        return Reply("", usage=Usage(5, 0), finish_reason="stop")

    model = ScriptedLanguageModel(reply)
    questions = {"q": Choice(criteria={"a": None, "b": None})}
    answer = Classifier("c", model, questions).evaluate_sync("x").answers["q"]
    assert isinstance(answer, NoVerdict)
    assert (answer.cause, answer.message) == (
        "no_label",
        "the model ended its answer before any token",
    )
