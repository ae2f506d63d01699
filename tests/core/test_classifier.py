"""Streams of states: order, window, failures, early ends; the model and the fingerprint."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import math
import pickle
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.answers import BooleanAnswer, ChoiceAnswer
from classify.classifier import Classifier
from classify.decision import DecisionModel, DecisionRequest, DecisionResponse, Rounding
from classify.errors import (
    ClassifyError,
    DeadlineExceeded,
    InvalidAnswer,
    InvalidInput,
    ProviderError,
    UnexpectedError,
)
from classify.evaluation import Evaluation
from classify.json_values import JSON
from classify.language_model import Prompt, Sampling
from classify.logprob_model import LogprobModel
from classify.openai_compatible import OpenAICompatible
from classify.options import Options
from classify.questions import Boolean, Choice, Question, Score
from classify.testing.scripted import RawAnswer, ScriptedLanguageModel, ScriptedModel

QUESTIONS = {"q": Boolean()}


class Slow:
    """A decision model that takes as many turns of the loop as the state says."""

    provider, model_id = "scripted", "slow"
    supported_question_types: frozenset[str] | None = None

    def __init__(self) -> None:
        """Start with nothing in flight."""
        self.now, self.most, self.begun, self.answered = 0, 0, list[object](), list[object]()

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Answer when its turns are over."""
        self.now, self.begun = self.now + 1, [*self.begun, request.state]
        self.most = max(self.most, self.now)
        try:
            assert isinstance(request.state, int)
            for _ in range(request.state):
                await asyncio.sleep(0)
            self.answered.append(request.state)
            return DecisionResponse({"q": {"type": "boolean", "probability": request.state / 1e6}})
        finally:
            self.now -= 1


def states_of(outcomes: list[Evaluation | ClassifyError]) -> list[int]:
    """Return the states that the answers were made of."""
    answers = [o.answers["q"] for o in outcomes if isinstance(o, Evaluation)]
    return [round(a.probability * 1e6) for a in answers if isinstance(a, BooleanAnswer)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), max_size=30), st.integers(1, 9))
def test_outcomes_keep_the_order_of_the_states(states: list[int], concurrency: int) -> None:
    """Whichever is done first; and never more in flight than wanted."""
    model = Slow()

    found = asyncio.run(
        Classifier("c", model, QUESTIONS).evaluate_many(states, concurrency=concurrency)
    )

    assert states_of(found) == states
    assert model.most <= concurrency


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_the_concurrency_asked_for_is_used(concurrency: int) -> None:
    """As many as allowed are in flight together."""
    model = Slow()

    asyncio.run(Classifier("c", model, QUESTIONS).evaluate_many([9] * 20, concurrency=concurrency))

    assert model.most == concurrency


def test_the_window_read_ahead_is_bounded() -> None:
    """A stream of a million rows is never held in memory: at most 2 x concurrency are read."""

    async def read_ahead() -> int:
        taken, seen, most = 0, 0, 0

        def states() -> Iterator[int]:
            nonlocal taken, most
            for k in range(200):
                taken += 1
                most = max(most, taken - seen)
                yield k % 7

        async for _ in Classifier("c", Slow(), QUESTIONS).stream(states(), concurrency=3):
            seen += 1
        return most

    assert asyncio.run(read_ahead()) <= 6


def test_states_may_come_asynchronously() -> None:
    """From a queue, a file, a socket."""

    async def states() -> AsyncIterator[int]:
        for k in range(5):
            await asyncio.sleep(0)
            yield k

    found = asyncio.run(Classifier("c", Slow(), QUESTIONS).evaluate_many(states()))

    assert states_of(found) == [0, 1, 2, 3, 4]


def failing(request: DecisionRequest) -> Mapping[str, RawAnswer]:
    """Fail in the way that the state names."""
    if request.state == "provider":
        raise ProviderError("gone", status=410)
    if request.state == "answer":
        return {"q": {"type": "boolean", "probability": 7}}
    if request.state == "bug":
        raise RuntimeError("bug")
    return {"q": {"type": "boolean", "probability": 0.5}}


def test_a_failure_stands_in_its_place() -> None:
    """One bad state spoils only itself: its own error is where its answer would be."""
    states: list[JSON] = ["fine", "provider", "answer", float("nan"), "fine"]

    found = asyncio.run(Classifier("c", ScriptedModel(failing), QUESTIONS).evaluate_many(states))

    assert [type(outcome).__name__ for outcome in found] == [
        "Evaluation",
        "ProviderError",
        "InvalidAnswer",
        "InvalidInput",
        "Evaluation",
    ]


def test_a_bug_costs_only_its_own_state() -> None:
    """What a model's code raises of its own loses no other answer; its text is not passed on."""
    found = asyncio.run(
        Classifier("c", ScriptedModel(failing), QUESTIONS).evaluate_many(["fine", "bug", "fine"])
    )

    first, bug, last = found
    assert isinstance(first, Evaluation) and isinstance(last, Evaluation)
    assert isinstance(bug, UnexpectedError)
    assert isinstance(bug.__cause__, RuntimeError)
    assert re.search(r"raised RuntimeError in failing \(test_classifier.py:\d+\)", str(bug))


def test_a_bug_in_a_transform_costs_only_its_own_state() -> None:
    """The answers of the others were paid for."""

    def transform(response: DecisionResponse) -> DecisionResponse:
        raise ZeroDivisionError("division by zero")

    built = Classifier("c", ScriptedModel(failing), QUESTIONS, transform=transform)

    assert [UnexpectedError] * 2 == [type(o) for o in built.evaluate_many_sync(["fine", "fine"])]
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        built.evaluate_sync("fine")


def scaled(response: DecisionResponse) -> DecisionResponse:
    """Halve P(true) of a boolean; make the last of two options as likely as 3 to 1."""
    answers: dict[str, RawAnswer] = {}
    for name, answer in response.answers.items():
        new = dict(answer)
        if answer["type"] == "boolean":
            new["probability"] = float(str(answer["probability"])) / 2
        elif answer["type"] == "score":
            new |= {"probabilities": {"0": 0.25, "1": 0.75}, "score": 0.75}
        else:
            new |= {"probabilities": {"a": 0.25, "b": 0.75}, "choice": "b"}
        answers[name] = new
    return DecisionResponse(answers)


def scaled_in_place(response: DecisionResponse) -> DecisionResponse:
    """Do the same to the very objects that the model returned."""
    for name, answer in scaled(response).answers.items():
        before: Any = response.answers[name]
        if "probabilities" in answer:
            before["probabilities"].update(answer["probabilities"])
        before.update({key: answer[key] for key in answer.keys() - {"probabilities"}})
    return response


@pytest.mark.parametrize("transform", [scaled, scaled_in_place])
@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (Boolean(), {"Yes": 0.7, "No": 0.2}),
        (Score(criteria=["bad", "good"]), {"0": 0.7, "1": 0.2}),
        (Choice(criteria={"a": None, "b": None}), {"A": 0.4, "B": 0.4}),
    ],
    ids=["boolean", "score", "choice"],
)
def test_a_transform_of_the_numbers_leaves_nothing_that_was_said_of_the_old_ones(
    question: Question,
    shown: Mapping[str, float],
    transform: Callable[[DecisionResponse], DecisionResponse],
) -> None:
    """Bounds, range and tie are of the model's own numbers; every row failed."""

    def found(transform: Callable[[DecisionResponse], DecisionResponse] | None) -> Any:
        logprobs = {label: math.log(p) for label, p in shown.items()}
        model = ScriptedLanguageModel(lambda prompt, sampling: logprobs)
        return Classifier("c", model, {"q": question}, transform=transform).evaluate_sync("x")

    own, changed = found(None).answers["q"], found(transform).answers["q"]

    assert own.bounds is not None
    assert changed.probabilities != own.probabilities
    assert changed.bounds is None
    assert getattr(changed, "score_range", None) is None
    assert getattr(own, "tie", True) and not getattr(changed, "tie", False)
    same = found(lambda response: response).answers["q"]
    assert (same.bounds, same.probabilities) == (own.bounds, own.probabilities)


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({}, True),
        ({"probability": 0.35}, False),
        ({"probability": 0.35, "bounds": {"true": (0.5, 0.9)}}, True),
        ({"probability": 0.35, "raw_probabilities": {"true": 0.75, "false": 0.25}}, True),
    ],
    ids=["untouched", "number", "both", "of the raw ones"],
)
def test_what_belies_its_numbers_of_itself_is_refused_behind_a_transform(
    changes: Mapping[str, object], refused: bool
) -> None:
    """What the model says of its own numbers, and what the transform says of its own."""
    answer = {"type": "boolean", "probability": 0.75, "bounds": {"true": (0.8, 0.9)}}
    model = ScriptedModel(lambda request: {"q": answer})
    built = Classifier(
        "c",
        model,
        QUESTIONS,
        transform=lambda response: DecisionResponse({"q": {**response.answers["q"], **changes}}),
    )

    if refused:
        with pytest.raises(InvalidAnswer, match="bounds of 'true'"):
            built.evaluate_sync("x")
    else:
        found = built.evaluate_sync("x").answers["q"]
        assert found == BooleanAnswer(probability=0.35)


@pytest.mark.parametrize("field", ["probabilities", "raw_probabilities"])
@pytest.mark.parametrize(
    "given", [np.array([0.9, 0.1]), {"a": np.array([0.9, 0.1]), "b": np.array([0.1, 0.9])}]
)
def test_arrays_of_a_transform_are_refused_by_name(field: str, given: object) -> None:
    """Not in numpy's words, which name neither question nor field."""
    answer = {"type": "choice", "choice": "a", "probabilities": {"a": 0.8, "b": 0.2}, "tie": False}
    built = Classifier(
        "c",
        ScriptedModel(lambda request: {"q": answer}),
        {"q": Choice(criteria={"a": None, "b": None})},
        transform=lambda response: DecisionResponse({"q": {**answer, field: given}}),
    )

    with pytest.raises(InvalidAnswer, match=rf"answer 'q'.* {field}"):
        built.evaluate_sync("x")


def test_a_tie_up_to_the_models_rounding_is_none_once_the_numbers_are_others() -> None:
    answer = {"type": "choice", "choice": "a", "probabilities": {"a": 0.51, "b": 0.49}, "tie": True}
    changed = {"q": {**answer, "probabilities": {"a": 0.9, "b": 0.1}}}
    rounding = Rounding(probability_decimals=1)
    built = Classifier(
        "c",
        ScriptedModel(lambda request: DecisionResponse({"q": answer}, rounding=rounding)),
        {"q": Choice(criteria={"a": None, "b": None})},
        transform=lambda response: DecisionResponse(changed, rounding=rounding),
    )

    found = built.evaluate_sync("x").answers["q"]

    assert isinstance(found, ChoiceAnswer)
    assert not found.tie


def test_bounds_stay_where_the_numbers_they_are_of_are_kept_as_the_raw_ones() -> None:
    """A transform may keep what it changes, as a calibrator does."""
    raw = {"true": 0.75, "false": 0.25}
    answer = {"type": "boolean", "probability": 0.75, "bounds": {"true": (0.7, 0.9)}}
    kept = {**answer, "probability": 0.35, "raw_probabilities": raw}
    built = Classifier(
        "c",
        ScriptedModel(lambda request: {"q": answer}),
        QUESTIONS,
        transform=lambda _: DecisionResponse({"q": kept}),
    )

    assert built.evaluate_sync("x").answers["q"].model_dump()["bounds"] == {"true": (0.7, 0.9)}


def test_a_source_that_breaks_loses_nothing_that_was_asked() -> None:
    """The reader's error comes after the outcomes of all that it had read."""

    def states() -> Iterator[int]:
        yield from (0, 1, 2)
        raise OSError("the disk is gone")

    async def run() -> tuple[list[Evaluation | ClassifyError], str]:
        seen: list[Evaluation | ClassifyError] = []
        try:
            async for outcome in Classifier("c", Slow(), QUESTIONS).stream(states()):
                seen.append(outcome)
        except OSError as error:
            return seen, str(error)
        return seen, ""

    seen, message = asyncio.run(run())

    assert states_of(seen) == [0, 1, 2]
    assert message == "the disk is gone"


def test_a_slow_state_holds_back_no_other() -> None:
    """Positions tell whose outcome it is."""
    release = asyncio.Event()

    class FirstStuck(Slow):
        async def decide(self, request: DecisionRequest) -> DecisionResponse:
            if request.state == 0:
                await release.wait()
            return await super().decide(request)

    async def run() -> list[int]:
        positions: list[int] = []
        async for position, _ in Classifier("c", FirstStuck(), QUESTIONS).as_completed(
            range(5), concurrency=2
        ):
            positions.append(position)
            if len(positions) == 4:
                release.set()
        return positions

    assert asyncio.run(run()) == [1, 2, 3, 4, 0]


def test_answers_do_not_wait_for_a_source_that_is_slow() -> None:
    """Rows from a pipe: the first is answered before the second is there."""

    async def run() -> list[int]:
        answered = asyncio.Event()
        seen: list[int] = []

        async def states() -> AsyncIterator[int]:
            yield 0
            await answered.wait()
            yield 1

        async for position, _ in Classifier("c", Slow(), QUESTIONS).as_completed(states()):
            seen.append(position)
            answered.set()
        return seen

    assert asyncio.run(asyncio.wait_for(run(), timeout=30)) == [0, 1]


def test_a_deadline_is_for_each_state() -> None:
    """The slow one fails, the others do not."""

    class Stuck(Slow):
        async def decide(self, request: DecisionRequest) -> DecisionResponse:
            if request.state == 1:
                await asyncio.Event().wait()
            return await super().decide(request)

    found = asyncio.run(Classifier("c", Stuck(), QUESTIONS).evaluate_many([0, 1, 2], timeout=0.5))

    assert isinstance(found[1], DeadlineExceeded)
    assert states_of(found) == [0, 2]


@pytest.mark.parametrize("end", ["break", "error", "cancel"])
def test_a_consumer_that_stops_early_ends_its_requests(end: str) -> None:
    """Nothing goes on spending after the loop was left, and no task is left behind."""
    model = Slow()

    async def consume() -> None:
        stream = Classifier("c", model, QUESTIONS).stream([0] + [10_000] * 50, concurrency=4)
        async with contextlib.aclosing(stream):
            async for _ in stream:
                if end == "break":
                    break
                if end == "error":
                    raise KeyError("mine")
                await asyncio.Event().wait()

    async def run() -> None:
        task = asyncio.create_task(consume())
        for _ in range(100):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())

    assert model.now == 0
    assert model.answered == [0]
    assert len(model.begun) < 20


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True, None], ids=repr)
def test_concurrency_is_a_whole_number(concurrency: Any) -> None:
    """Refused before a request."""
    model = Slow()

    with pytest.raises(InvalidInput, match="concurrency must be a whole number"):
        asyncio.run(Classifier("c", model, QUESTIONS).evaluate_many([1], concurrency=concurrency))
    assert model.begun == []


@pytest.mark.parametrize("states", ["text", {"a": 1}], ids=["text", "object"])
def test_one_state_is_not_a_list_of_states(states: Any) -> None:
    """A text would be read letter by letter, an object key by key."""
    with pytest.raises(InvalidInput, match=r"wrap it in \[\]"):
        asyncio.run(Classifier("c", Slow(), QUESTIONS).evaluate_many(states))


def test_no_states_are_no_outcomes() -> None:
    """Nothing in, nothing out."""
    assert asyncio.run(Classifier("c", Slow(), QUESTIONS).evaluate_many([])) == []


def test_provider_options_reach_the_model_as_they_are() -> None:
    """They are the provider's business."""
    model = ScriptedModel(failing)

    asyncio.run(
        Classifier("c", model, QUESTIONS).evaluate("x", provider_options={"top_k": {"a": [1]}})
    )

    assert model.requests[0].provider_options == {"top_k": {"a": [1]}}


@pytest.mark.parametrize("options", [{"a": float("nan")}, {"a": object()}], ids=["nan", "object"])
def test_provider_options_are_json(options: Any) -> None:
    """Checked before a request, by name."""
    model = ScriptedModel(failing)

    with pytest.raises(InvalidInput, match=r"provider_options\.a must hold"):
        asyncio.run(Classifier("c", model, QUESTIONS).evaluate("x", provider_options=options))
    assert model.requests == []


@pytest.mark.parametrize(
    "model", [3, object(), Slow, ["openai/x"]], ids=["number", "object", "class", "list"]
)
def test_a_model_is_a_name_or_an_object_that_answers(model: Any) -> None:
    """The message says what is possible."""
    with pytest.raises(InvalidInput, match='the model must be "provider/model", a LanguageModel'):
        Classifier("c", model, QUESTIONS)


def fingerprint(**changes: Any) -> str:
    """Return the fingerprint of a classifier with something changed."""
    model = changes.pop("model", ScriptedModel(failing))
    questions = changes.pop("questions", {"q": Choice(criteria={"a": "x", "b": None})})
    return Classifier(changes.pop("id", "c"), model, questions, **changes).fingerprint


def test_what_cannot_change_an_answer_keeps_the_fingerprint() -> None:
    """Equal classifiers are one, whatever their ids, in every process."""
    assert fingerprint() == fingerprint(id="another")
    assert fingerprint() == fingerprint(
        questions={"q": {"type": "choice", "criteria": {"a": "x", "b": None}}}
    )


def silent(_: Prompt, __: Sampling) -> dict[str, float]:
    """Show no alternatives."""
    return {}


def test_what_can_change_an_answer_changes_the_fingerprint() -> None:
    """Model, endpoint, wording, options: none of them may reuse another's results."""

    class Remote(ScriptedModel):
        base_url = "https://a.example"

    elsewhere = Remote(failing)
    elsewhere.base_url = "https://b.example"
    other = ScriptedModel(failing)
    other.model_id = "scripted-2"
    found = [
        fingerprint(),
        fingerprint(model=other),
        fingerprint(model=Remote(failing)),
        fingerprint(model=elsewhere),
        fingerprint(model=ScriptedModel(failing, settings={"prompt": "a"})),
        fingerprint(model=ScriptedModel(failing, settings={"prompt": "b"})),
        fingerprint(model=ScriptedLanguageModel(silent)),
        fingerprint(model=ScriptedLanguageModel(silent, settings={"seed": 1})),
        fingerprint(model=LogprobModel(ScriptedLanguageModel(silent), Options(readout="letters"))),
        fingerprint(orders=2),
        fingerprint(prior="content-free"),
        fingerprint(questions={"r": Choice(criteria={"a": "x", "b": None})}),
        fingerprint(questions={"q": Choice(criteria={"a": "y", "b": None})}),
        fingerprint(questions={"q": Choice(criteria={"a": "x", "c": None})}),
        fingerprint(questions={"q": Choice(criteria={"a": "x", "b": None}, instructions="?")}),
        fingerprint(questions={"q": Choice(criteria={"a": "x", "b": None}, cue="It:")}),
    ]

    assert len(set(found)) == len(found)


class Own:
    """A model as a user writes it, which holds what nobody can see."""

    provider, supported_question_types = "own", None

    def __init__(self, url: str, **more: object) -> None:
        self.model_id, self._client = "m", url
        vars(self).update(more)

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        raise NotImplementedError


class Bare(Own):
    """A model that holds no more than its names."""

    def __init__(self) -> None:
        self.model_id = "m"


@dataclass(slots=True)
class Slotted:
    """The same in slots."""

    url: str
    provider = model_id = "own"
    supported_question_types = None

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        raise NotImplementedError


def test_a_model_is_known_by_what_its_settings_say() -> None:
    """And by its names alone where it holds nothing else."""
    said = [MappingProxyType({"url": url, "parts": ("a", 1)}) for url in ("a", "b")]
    first, second = (fingerprint(model=Own("a", settings=each)) for each in said)

    assert first != second
    assert first == fingerprint(model=Own("c", settings=said[0]))
    assert first == fingerprint(model=Own("a", settings={"parts": ["a", 1], "url": "a"}))
    assert fingerprint(model=Bare()) == fingerprint(model=Bare())
    assert Classifier("c", Bare(), QUESTIONS).fingerprint_problem is None


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (
            Own("a"),
            "the model holds _client and has no `settings`.* give Own a property `settings`",
        ),
        (Slotted("a"), "the model holds url and has no `settings`"),
        (Own("a", settings="a"), "Own.settings must be a mapping.*type str"),
        (Own("a", settings={"url": b"a"}), "Own.settings.url must hold only JSON.* got bytes"),
    ],
    ids=["none", "none in slots", "text", "bytes"],
)
def test_a_model_that_does_not_say_what_it_is_is_taken_for_no_other(
    model: DecisionModel, problem: str
) -> None:
    """Two of one name at different addresses had each other's answers when a run was resumed."""
    classifier = Classifier("c", model, QUESTIONS)

    assert re.match(problem, classifier.fingerprint_problem or "")
    assert classifier.fingerprint == classifier.fingerprint
    assert classifier.fingerprint != Classifier("c", model, QUESTIONS).fingerprint


def test_a_logprob_model_is_asked_with_its_own_options() -> None:
    """The classifier's were recorded, and told its answers from others, but were not used."""
    model = LogprobModel(ScriptedLanguageModel(silent), Options(orders=2))

    assert Classifier("c", model, QUESTIONS).options == Options(orders=2)
    assert Classifier("c", model, QUESTIONS, orders=2).options == Options(orders=2)
    with pytest.raises(InvalidInput, match="a LogprobModel has its own options"):
        Classifier("c", model, QUESTIONS, orders=1)


def test_closing_closes_the_model() -> None:
    """And a model that needs no closing is fine."""
    closed: list[bool] = []

    class Closing(ScriptedLanguageModel):
        async def aclose(self) -> None:
            closed.append(True)

    asyncio.run(Classifier("c", Closing(silent), QUESTIONS).aclose())
    asyncio.run(Classifier("c", ScriptedModel(failing), QUESTIONS).aclose())

    assert closed == [True]


def _scripted(**options: Any) -> Classifier:
    model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 0.5}})
    return Classifier("c", model, QUESTIONS, **options)


@pytest.mark.parametrize("states", [None, 5, b"ab"], ids=["null", "number", "bytes"])
def test_states_that_are_no_list_are_refused(states: Any) -> None:
    """Bytes would be judged byte by byte."""
    with pytest.raises(InvalidInput, match="states must be a list of states"):
        _scripted().evaluate_many_sync(states)


@pytest.mark.parametrize("options", [5, "a", [1]], ids=["number", "text", "list"])
def test_provider_options_are_an_object_whatever_the_model(options: Any) -> None:
    """A model that looks at none would take them in silence."""
    with pytest.raises(InvalidInput, match="provider_options must map a field to its value"):
        _scripted().evaluate_sync("x", provider_options=options)


@pytest.mark.parametrize("timeout", [True, 10**400], ids=["truth", "beyond a float"])
def test_a_timeout_is_a_number_of_seconds_that_a_clock_can_hold(timeout: float) -> None:
    """An OverflowError would end all states of a call, and True is one second."""
    with pytest.raises(InvalidInput, match="timeout must be a positive number of seconds"):
        _scripted().evaluate_sync("x", timeout=timeout)


def test_an_id_that_no_file_can_hold_is_refused() -> None:
    """Found when the first result is written, it would cost what was answered."""
    with pytest.raises(InvalidInput, match=r"the classifier's id .* surrogate"):
        Classifier("\ud800", ScriptedModel(lambda _: {}), QUESTIONS)


def test_a_classifier_says_what_it_is() -> None:
    """As a log or a prompt of Python shows it."""
    assert repr(Classifier("c", Slow(), QUESTIONS)) == (
        "Classifier('c', 'scripted/slow', questions=['q'])"
    )


def test_a_classifier_is_its_own_copy() -> None:
    """What it shares with itself are connections; an object that holds it can be copied."""
    classifier = Classifier("c", ScriptedModel(failing), QUESTIONS)
    classifier.evaluate_sync("a state")

    assert copy.copy(classifier) is classifier
    assert copy.deepcopy({"judge": [classifier]})["judge"][0] is classifier


def test_a_classifier_that_is_sent_to_another_process_says_where_to_make_it() -> None:
    """The message was of a WeakKeyDictionary."""
    classifier = Classifier("c", ScriptedModel(failing), QUESTIONS)

    with pytest.raises(
        TypeError, match=r"the classifier 'c' cannot be pickled.* inside the worker"
    ):
        pickle.dumps([classifier])


def test_a_model_s_connections_are_neither_pickled_nor_copied() -> None:
    """The message was of a lock."""
    model = OpenAICompatible("m", base_url="http://localhost:1/v1")

    for send in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match=r"make the model anew .* inside the worker"):
            send(model)
