"""A user's own sampling settings beside logprobs and draws."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from classify import capability_probe
from classify.answers import ChoiceAnswer
from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.evaluation import Evaluation
from classify.json_values import JSON
from classify.openai_compatible import OpenAICompatible
from classify.questions import Choice
from classify.testing import Answer, LoopbackServer, Request, likely

AB = {"q": Choice(criteria={"ant": None, "bee": None})}
SURE = [[("A", 0.0), ("B", -9999.0)]]


@pytest.fixture(autouse=True)
def _unprobed() -> Iterator[None]:
    """Ports come again, so what one test's endpoint could do is forgotten."""
    yield
    capability_probe.forget()


def coin(request: Request) -> Answer:
    """Answer A or B as the seed falls, like a server that honours it; no logprobs."""
    seed = request.body.get("seed")
    chance = random.Random(seed if isinstance(seed, int) else None)
    text = "A" if chance.random() < 0.5 else "B"
    return Answer(text=text, logprobs="null")


def ask(
    server: LoopbackServer,
    settings: Mapping[str, JSON] | None = None,
    options: Mapping[str, JSON] | None = None,
    *,
    draws: bool = False,
) -> Evaluation:
    """Ask one question, by logprobs or by twenty draws."""
    model = OpenAICompatible("m", base_url=server.base_url, settings=settings)
    fallback = Classifier("c", model, AB, fallback="sample" if draws else "error")
    return fallback.evaluate_sync("x", provider_options=options)


@pytest.mark.parametrize("by_call", [False, True], ids=["settings", "provider_options"])
def test_a_seed_makes_draws_repeatable_and_not_alike(by_call: bool) -> None:
    """Twenty draws of one seed would be one draw with the interval of twenty."""
    given: Mapping[str, JSON] = {"seed": 7}
    ants = [random.Random(7 + k).random() < 0.5 for k in range(20)].count(True)
    for _ in range(2):
        with LoopbackServer(coin) as server:
            evaluation = ask(server, *([None, given] if by_call else [given]), draws=True)

        seeds = [r.body.get("seed") for r in server.requests if "logprobs" not in r.body]
        assert sorted(map(str, seeds)) == sorted(str(7 + k) for k in range(20))
        answer = evaluation.answers["q"]
        assert answer.evidence is not None
        assert answer.evidence.draws == {"ant": ants, "bee": 20 - ants}
        assert evaluation.warnings == ()


def test_without_a_seed_none_is_sent() -> None:
    """Then the server's own chance decides."""
    with LoopbackServer(coin) as server:
        ask(server, draws=True)

    assert not any("seed" in request.body for request in server.requests)


@pytest.mark.parametrize(
    "fields",
    [{"temperature": 0}, {"temperature": 0.0}, {"top_k": 1}, {"top_p": 0}, {"seed": "7"}],
    ids=str,
)
@pytest.mark.parametrize("by_call", [False, True], ids=["settings", "provider_options"])
def test_draws_that_are_all_alike_are_refused(fields: Mapping[str, JSON], by_call: bool) -> None:
    """With the way out, before the first draw."""
    (name,) = fields
    with LoopbackServer(coin) as server, pytest.raises(InvalidInput, match=f"^{name}=.*draw"):
        ask(server, *([None, fields] if by_call else [fields]), draws=True)

    assert all("logprobs" in request.body for request in server.requests)


def test_draws_of_a_changed_distribution_are_said() -> None:
    """They may differ, and are not the model's own."""
    with LoopbackServer(coin) as server:
        evaluation = ask(server, {"temperature": 0.3}, draws=True)

    assert evaluation.warnings == (
        "temperature=0.3 among the settings changes how the model samples: the draws are not of "
        "its own distribution; leave it out",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 0.1},
        {"temperature": 0},
        {"top_p": 0.5},
        {"top_k": 1},
        {"min_p": 0.05},
        {"presence_penalty": 1, "frequency_penalty": -0.5},
        {"logit_bias": {"1": 100}},
    ],
    ids=str,
)
@pytest.mark.parametrize("by_call", [False, True], ids=["settings", "provider_options"])
def test_a_setting_that_changes_sampling_is_said(fields: Mapping[str, JSON], by_call: bool) -> None:
    """Some servers return logprobs after sampling: the answer stands, with a warning."""
    with LoopbackServer(Answer(positions=[likely({"A": 0.9, "B": 0.1})])) as server:
        evaluation = ask(server, *([None, fields] if by_call else [fields]))

    answer = evaluation.answers["q"]
    assert isinstance(answer, ChoiceAnswer) and answer.evidence is not None
    (warning,) = answer.evidence.warnings
    assert evaluation.warnings == (warning,)
    assert all(warning.count(name) == 1 for name in fields)
    assert "changes how the model samples" in warning and "exactly 1 and 0" not in warning


def test_one_and_nought_beside_such_a_setting_are_named() -> None:
    """A greedy server's values are no probabilities of the model."""
    with LoopbackServer(Answer(positions=SURE)) as server:
        (warning,) = ask(server, {"temperature": 0}).warnings
        certain = ask(server)

    assert "they are not the model's own, as they are here: exactly 1 and 0" in warning
    assert certain.warnings == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": 1.0, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1.0},
        {"temperature": None, "top_k": 0, "logit_bias": {}},
        {"reasoning_effort": "none", "seed": 3},
    ],
    ids=str,
)
def test_neutral_settings_are_not_warned_of(fields: Mapping[str, JSON]) -> None:
    """They leave the distribution as it is."""
    with LoopbackServer(Answer(positions=[likely({"A": 0.9, "B": 0.1})])) as server:
        assert ask(server, fields).warnings == ()
