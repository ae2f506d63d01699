"""How answers came about: prompts built again from evidence, and each step to the answer."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Unpack

import pytest
from rich.cells import cell_len

from classify import Boolean, Choice, Classifier, Score
from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.display.explanation import Explanation, explained
from classify.display.screen import Screen
from classify.display.sent_prompts import Told, sent_prompts
from classify.display.terminal_explanation import explanation_lines
from classify.errors import InvalidInput
from classify.evidence import Evidence, OrderSeen
from classify.json_values import JSON
from classify.language_model import Capabilities, ChatPrompt, Prompt, Reply, Sampling, TextPrompt
from classify.options import Options, OptionValues
from classify.questions import Question
from classify.testing import ScriptedLanguageModel, ScriptedModel
from tests.hostile_texts import HOSTILE

ABC = Choice(criteria={"cat": None, "ant": "small", "bee": None})
LEVELS = Score(criteria=["bad", {"fair": 1}, "good"])
TWENTY = Choice(criteria={f"option {n}": None for n in range(18)} | {"a | b": None, "b": None})


def few(top_logprobs: int) -> Capabilities:
    """Return what a chat endpoint can do that shows that many alternatives."""
    return Capabilities(
        top_logprobs=top_logprobs,
        scores_text=False,
        forms=frozenset({"chat", "prefill", "completion"}),
        form="chat",
        readouts={"choice": "letters", "score": "digits", "boolean": "yes_no"},
    )


def letters(prompt: Prompt, sampling: Sampling) -> Reply | Mapping[str, float]:
    """Write reasons where they are asked for, else answer with the second label."""
    if sampling.top_logprobs == 0:
        return Reply("Because.\nSo.")
    tokens = {"A": 0.2, "B": 0.5, "0": 0.1, "1": 0.1, "Yes": 0.05, "No": 0.05}
    return {token: math.log(p) for token, p in tokens.items()}


def scores(prompt: Prompt, texts: Sequence[str]) -> list[list[float]]:
    """Score long texts lower."""
    return [[-1.0, -0.1 * len(text)] for text in texts]


def explanation(
    model: ScriptedLanguageModel, question: Question, state: JSON, **options: Unpack[OptionValues]
) -> Explanation:
    """Ask the question, and explain the answer."""
    chosen = OptionValues(min_coverage=0.0)
    chosen.update(options)
    classifier = Classifier("c", model, {"q": question}, **chosen)
    answer = classifier.evaluate_sync(state).answers["q"]
    return explained(Told("q", question, classifier.options, state), answer)


@pytest.mark.parametrize("state", ["two\nlines", {"field": ["x"], "<state>": "</state>"}])
@pytest.mark.parametrize("question", [ABC, LEVELS, Boolean()], ids=lambda q: q.type)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="chat"),
        pytest.param({"orders": 3}, id="orders"),
        pytest.param({"prompt_form": "prefill", "readout": "letters"}, id="prefill"),
        pytest.param({"prompt_form": "completion"}, id="completion"),
        pytest.param({"reasoning": True}, id="reasons"),
    ],
)
def test_prompts_are_built_again_as_they_were_sent(
    options: OptionValues, question: Question, state: JSON
) -> None:
    """All of them and no other, whatever the readout, the form and the state."""
    model = ScriptedLanguageModel(letters)

    found = explanation(model, question, state, **options)

    asked = [asked.sent.prompt for asked in found.asked]
    reasons = [] if found.reasons is None else [found.reasons.prompt]
    assert sorted(map(str, model.prompts)) == sorted(map(str, [*reasons, *asked]))
    assert all(asked.sent.matches for asked in found.asked)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"readout": "words", "state_name": "Mail"}, id="words"),
        pytest.param({"readout": "sequence", "orders": 2}, id="sequence"),
    ],
)
@pytest.mark.parametrize("question", [ABC, Score(criteria=["bad", "good"])], ids=lambda q: q.type)
def test_prompts_whose_words_were_scored_are_built_again(
    options: OptionValues, question: Question
) -> None:
    """The listings of the sequence readout are not in the evidence: they follow from orders."""
    model = ScriptedLanguageModel(scores=scores)

    found = explanation(model, question, "a state", **options)

    assert model.prompts == [asked.sent.prompt for asked in found.asked]
    assert all(asked.sent.matches for asked in found.asked)


@pytest.mark.parametrize("orders", [1, 3])
def test_prompts_of_a_tree_are_built_again(orders: int) -> None:
    """Its groups are kept as one text each, and an option may look like two."""
    model = ScriptedLanguageModel(letters, capabilities=few(3))

    found = explanation(model, TWENTY, "a state", orders=orders, tree_tolerance=0.0)

    assert len(found.asked) > orders
    assert all(asked.sent.matches for asked in found.asked)
    assert sorted(map(str, model.prompts)) == sorted(str(a.sent.prompt) for a in found.asked)


def test_the_prompt_of_draws_is_built_again() -> None:
    """All draws were of one prompt."""
    turn = cycle("ABA")
    model = ScriptedLanguageModel(lambda _, __: Reply(next(turn)), capabilities=few(0))

    found = explanation(model, ABC, "a state", fallback="sample", samples=3)

    assert [True] == [asked.sent.matches for asked in found.asked]
    assert model.prompts[0] == found.asked[0].sent.prompt
    assert "(ant 2, bee 1, cat 0)" in found.reading


def told(question: Question = ABC, state: JSON = "a state", **kept: bool) -> Told:
    """Return what was told with the default options."""
    return Told("q", question, Options(), state, **kept)


def evidence_of(question: Question, state: JSON) -> Evidence:
    """Return the evidence of an answer about the state."""
    model = ScriptedLanguageModel(letters)
    classifier = Classifier("c", model, {"q": question}, min_coverage=0.0)
    found = classifier.evaluate_sync(state).answers["q"].evidence
    assert found is not None
    return found


def test_another_state_is_found_out() -> None:
    """The hash is not that of what was sent."""
    (sent,) = sent_prompts(told(state="another"), evidence_of(ABC, "a state"))

    assert sent.matches is False
    assert "does NOT match the hash of what was sent: it was another state" in sent.told


def test_another_template_is_named() -> None:
    """Then the difference is no fault of the state."""
    evidence = evidence_of(ABC, "a state").model_copy(update={"template": "0"})

    (sent,) = sent_prompts(told(state="another"), evidence)

    assert "prompts were of template 0 then" in sent.told


def test_a_state_that_was_not_kept_is_said() -> None:
    """And nothing is made up in its place."""
    (sent,) = sent_prompts(told(has_state=False), evidence_of(ABC, "a state"))

    assert (sent.prompt, sent.matches) == (None, None)
    assert "the state was not kept" in sent.told


def test_labels_of_other_options_cannot_be_built_again() -> None:
    """A spec that has changed since."""
    other = Choice(criteria={"x": None, "y": None})

    (sent,) = sent_prompts(told(other), evidence_of(ABC, "a state"))

    assert (sent.prompt, sent.matches) == (None, False)


def seen(p: Mapping[str, float]) -> OrderSeen:
    """Return an order with that distribution."""
    labels = dict(zip("AB", p, strict=True))
    return OrderSeen(labels=labels, probabilities=dict(p), label_mass=1.0, prompt_hash="0")


AB = Choice(criteria={"a": None, "b": None})


def steps(found: Explanation) -> dict[str, list[float]]:
    """Return each step's probabilities."""
    return {step.name: [bar.probability for bar in step.bars] for step in found.steps}


def test_orders_are_combined_by_the_geometric_mean() -> None:
    """The answer's own numbers are shown, with the rule that they follow."""
    turn = cycle([{"A": 0.8, "B": 0.2}, {"A": 0.5, "B": 0.5}])
    model = ScriptedLanguageModel(
        lambda _, __: {token: math.log(p) for token, p in next(turn).items()}
    )

    found = explanation(model, AB, "x", orders=2)

    # sqrt(.8 x .5) to sqrt(.2 x .5) is 2 to 1
    assert {"combined": pytest.approx([2 / 3, 1 / 3])} == steps(found)
    assert "geometric mean of 2 orders" in found.steps[0].rule


def test_a_prior_is_shown_before_and_after() -> None:
    """.6 / .75 to .4 / .25 is 1 to 2; what a calibrator made of it comes last."""
    evidence = Evidence(
        orders=(seen({"a": 0.6, "b": 0.4}),),
        prior={"a": 0.75, "b": 0.25},
        prior_method="batch",
        calibrator="c" * 64,
    )
    answer = ChoiceAnswer(
        choice="b",
        probabilities={"a": 0.1, "b": 0.9},
        raw_probabilities={"a": 0.6, "b": 0.4},
        evidence=evidence,
    )

    found = explained(told(AB), answer)

    assert {
        "as read": pytest.approx([0.6, 0.4]),
        "prior": pytest.approx([0.75, 0.25]),
        "prior divided out": pytest.approx([1 / 3, 2 / 3]),
        "calibrated": pytest.approx([0.1, 0.9]),
    } == steps(found)


def handed_over(raw: dict[str, float] | None) -> NoVerdict:
    """Return a calibrated answer of two orders that a policy handed over."""
    orders = (seen({"a": 0.8, "b": 0.2}), seen({"b": 0.5, "a": 0.5}))
    return NoVerdict(
        kind="choice",
        cause="uncertain",
        message="handed over",
        probabilities={"a": 0.9, "b": 0.1},
        raw_probabilities=raw,
        evidence=Evidence(orders=orders, calibrator="c" * 64),
    )


def test_an_answer_that_was_handed_over_is_explained_from_its_raw_probabilities() -> None:
    """As one that stands."""
    found = explained(told(AB), handed_over({"a": 2 / 3, "b": 1 / 3}))

    assert {
        "combined": pytest.approx([2 / 3, 1 / 3]),
        "calibrated": pytest.approx([0.9, 0.1]),
    } == steps(found)
    assert [2 / 3, 1 / 3] == [bar.raw for bar in found.answer.bars]


def test_what_a_calibrator_changed_is_not_shown_as_read_where_the_raw_answer_is_gone() -> None:
    """Files of before have none for what was handed over."""
    assert {"calibrated": pytest.approx([0.9, 0.1])} == steps(
        explained(told(AB), handed_over(None))
    )


def test_the_ends_of_an_anchored_scale_are_shown() -> None:
    """Such a score has no distribution over the levels."""
    question = Score(criteria=["1", "2", "3"], words=["bad", "good"])

    found = explanation(ScriptedLanguageModel(scores=scores), question, "x")

    assert ["ends of the scale"] == list(steps(found))
    assert "the share of the upper end times 2" in found.steps[0].rule


def test_an_answer_to_another_question_is_refused() -> None:
    """A wrong spec must not explain anything."""
    answer = ChoiceAnswer(choice="x", probabilities={"x": 1.0})

    with pytest.raises(InvalidInput, match=r"'q' is a choice .*'a', 'b'.* about .*'x'"):
        explained(told(AB), answer)


def test_a_decision_model_was_sent_no_prompt_of_ours() -> None:
    """It has answered by itself."""
    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 0.25}})
    answer = Classifier("c", model, {"q": Boolean()}).evaluate_sync("x").answers["q"]

    found = explained(told(Boolean()), answer)

    assert (found.asked, found.steps) == ((), ())
    assert "a decision model" in found.reading


def shown(found: Explanation, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """Return the lines as text."""
    return [line.plain for line in explanation_lines(found, Screen(width, encoding))]


def test_messages_are_shown_line_by_line_between_marks() -> None:
    """Every line as it was sent, with where each message begins and ends."""
    found = explanation(ScriptedLanguageModel(letters), ABC, "first\n\nsecond")
    prompt = found.asked[0].sent.prompt
    assert isinstance(prompt, ChatPrompt)

    lines = shown(found, width=200)

    start = lines.index("  ┌ user, message 2 of 2")
    end = lines.index("  └ end of user, message 2 of 2")
    content = [line.removeprefix("  │ ") for line in lines[start + 1 : end]]
    assert prompt.messages[1].content == "\n".join(content)


def test_a_beginning_to_be_continued_is_said() -> None:
    """The model goes on with it, in place of answering it."""
    prefilled = explanation(ScriptedLanguageModel(letters), ABC, "x", prompt_form="prefill")
    text = explanation(ScriptedLanguageModel(letters), ABC, "x", prompt_form="completion")

    assert "  ┌ assistant, message 3 of 3, to be continued" in shown(prefilled)
    assert isinstance(text.asked[0].sent.prompt, TextPrompt)
    assert "  ┌ text to be continued" in shown(text)


def test_alternatives_say_what_they_were_counted_for() -> None:
    """Token, logprob, probability, and the label with its option, or nothing."""
    lines = shown(explanation(ScriptedLanguageModel(letters), ABC, "x"))

    assert any(line.split() == ["'B'", "-0.693", "0.5", "B", "=", "bee"] for line in lines)
    assert any(line.split() == ["'0'", "-2.303", "0.1"] for line in lines)


def test_tokens_without_any_probability_are_shown_as_such() -> None:
    model = ScriptedLanguageModel(scores=lambda _, __: [[-1.0, -2.0], [-0.5, -math.inf]])

    lines = shown(explanation(model, AB, "x"))

    assert any("logprob -1.000 -2.000 of 2 tokens, sum -3.000" in line for line in lines)
    assert any("logprob -0.500 none of 2 tokens, sum none" in line for line in lines)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_state_stays_between_its_marks(name: str) -> None:
    """No line of it is without a mark, too wide, or steers the terminal."""
    text = HOSTILE[name]
    plain = shown(explanation(ScriptedLanguageModel(letters), ABC, "plain"))

    for state in (text, {text: [text]}):
        found = shown(explanation(ScriptedLanguageModel(letters), ABC, state))

        assert all(cell_len(line) <= 80 for line in found)
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for line in found for c in line)
        marked = ("  │", "  ┊", "  asked")  # the hash is another
        assert [line for line in plain if not line.startswith(marked)] == [
            line for line in found if not line.startswith(marked)
        ]


@pytest.mark.parametrize("width", [34, 40, 80])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_an_explanation_fits_the_screen(width: int, encoding: str) -> None:
    """Prompts, tables and bars."""
    question = Choice(criteria={"支払い・請求": None, "التوصيل إلى المنزل": "x " * 40, "b": None})
    found = explanation(ScriptedLanguageModel(letters), question, "漢" * 90, orders=3)

    lines = shown(found, width, encoding)

    assert all(cell_len(line) <= width for line in lines)
    assert all(line.encode(encoding) for line in lines if line)


def test_a_boolean_without_evidence_is_explained_by_what_there_is() -> None:
    """Results of other programs may keep no evidence."""
    found = explained(told(Boolean()), BooleanAnswer(probability=0.5, method="logprobs"))

    assert "answer: P(true) = 0.500" in "\n".join(shown(found))
