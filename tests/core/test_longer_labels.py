"""Labels that a reply goes on from: told from whole ones at an endpoint that shows logprobs."""

from __future__ import annotations

import math

import pytest

from classify import capability_probe
from classify.answers import AnyAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.language_model import Alternative, Position, Reply
from classify.openai_compatible import OpenAICompatible
from classify.questions import Choice, Question, Score
from classify.testing import Answer, LoopbackServer, Request, ScriptedLanguageModel, likely
from classify.testing.server_answers import Likely

TEN_LEVELS = Score(criteria=[f"{k + 1} of 10" for k in range(10)])
TEN_OPTIONS = Choice(criteria={f"kind {k}": None for k in range(10)})


class Writer:
    """An endpoint that writes its reply as far as it is asked to."""

    def __init__(self) -> None:
        self.positions: list[Likely] = []
        self.asked: list[int] = []

    def __call__(self, request: Request) -> Answer:
        most = request.body["max_tokens"]
        assert isinstance(most, int)
        self.asked.append(most)
        cut = most < len(self.positions)
        return Answer(positions=self.positions[:most], finish_reason="length" if cut else "stop")


@pytest.fixture
def writer() -> Writer:
    """Return what the server's replies are set by."""
    return Writer()


def asked(writer: Writer, question: Question, *positions: Likely) -> AnyAnswer:
    """Ask over the wire; the first token of each position is the one written."""
    capability_probe.forget()
    writer.positions = [*positions]
    with LoopbackServer(writer) as server:
        model = OpenAICompatible("m", base_url=server.base_url)
        return Classifier("c", model, {"q": question}).evaluate_sync("text").answers["q"]


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        (TEN_LEVELS, ["1", "0"]),
        (TEN_LEVELS, ["1", ".", "5"]),
        (TEN_LEVELS, ["3", "-", "4"]),
        (TEN_OPTIONS, ["I", "'m", " sorry"]),
        (TEN_OPTIONS, ["I", " cannot"]),
    ],
    ids=["10", "1.5", "3-4", "sorry", "cannot"],
)
def test_the_beginning_of_something_longer_is_no_verdict(
    writer: Writer, question: Question, tokens: list[str]
) -> None:
    """A 10 in two tokens was level 1, and an excuse was the ninth option."""
    answer = asked(writer, question, *(likely({token: 0.9, "~": 0.1}) for token in tokens))

    assert isinstance(answer, NoVerdict)
    assert answer.cause == "no_label"
    assert f"the model went on after {tokens[0]!r}" in answer.message
    assert answer.evidence is not None and answer.evidence.written == ("".join(tokens),)


def test_the_rest_of_the_distribution_stands(writer: Writer) -> None:
    """Only what was written is known to go on."""
    answer = asked(writer, TEN_LEVELS, likely({"1": 0.4, "9": 0.6}), likely({"0": 1.0}))

    assert isinstance(answer, ScoreAnswer)
    assert answer.score == 9.0
    assert answer.label_mass == pytest.approx(0.6)


@pytest.mark.parametrize("end", ["", "<|im_end|>"], ids=["empty", "mark"])
def test_the_mark_of_the_end_may_come_without_alternatives(end: str) -> None:
    """Some servers show it as a position; it is no part of the text."""
    written = Position("1", (Alternative("1", math.log(0.9)), Alternative("2", math.log(0.1))))
    reply = Reply("1", (written, Position(end, ())), finish_reason="stop")
    model = ScriptedLanguageModel(lambda _, __: reply)

    answer = Classifier("c", model, {"q": TEN_LEVELS}).evaluate_sync("text").answers["q"]

    assert isinstance(answer, ScoreAnswer)
    assert answer.score == pytest.approx(1.1)


def test_labels_that_begin_nothing_are_asked_for_by_one_token(writer: Writer) -> None:
    """Ten options have an I among their letters."""
    few = Choice(criteria={"a": None, "b": None})
    for question, tokens in ((few, 1), (TEN_OPTIONS, 3), (TEN_LEVELS, 3)):
        label = "1" if question is TEN_LEVELS else "A"
        answer = asked(writer, question, likely({label: 0.9, "~": 0.1}))

        assert isinstance(answer, ChoiceAnswer | ScoreAnswer)
        assert writer.asked[-1] == tokens
