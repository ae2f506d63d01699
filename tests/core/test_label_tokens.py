"""Labels asked for by their tokens: no tree, nothing unseen, and what comes where it fails.

The server answers as vLLM does: with `logprob_token_ids` the token drawn and those asked for stand
in place of the likeliest.
"""

from __future__ import annotations

# pyright: reportUnknownMemberType=false
# pytest.approx says nothing of its types.
import json
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import pytest

from classify import capability_probe
from classify.answers import ChoiceAnswer
from classify.classifier import Classifier
from classify.errors import MalformedResponse
from classify.label_tokens import check_shown
from classify.language_model import Alternative, Position, Reply
from classify.openai_compatible import OpenAICompatible
from classify.openai_shapes import Endpoint
from classify.provider_table import PROVIDERS, Provider
from classify.testing import Answer, LoopbackServer, Request, error, likely
from classify.testing.server_answers import render

ROW = replace(PROVIDERS["vllm"], echo=False, alternatives=(20,))
TOKENS = {
    **{letter: 32 + k for k, letter in enumerate(string.ascii_uppercase)},
    **{f" {letter}": 362 + k for k, letter in enumerate(string.ascii_uppercase)},
}
TEXTS = {token: text for text, token in TOKENS.items()}
OPTIONS = [f"option {k:02}" for k in range(24)]
# 0.5 + 23 · 0.02 = 0.96 for the bare letters; 0.01 is a spelling of A, 0.03 no label.
TRUTH = dict(zip(OPTIONS, [0.5, *[0.02] * 23], strict=True))
LINE = re.compile(r"^([A-Z]): (.*)$", re.MULTILINE)

Respond = Callable[[Request], Answer]


@pytest.fixture(autouse=True)
def _no_probe_is_remembered() -> None:
    capability_probe.forget()


def distribution(request: Request) -> dict[str, float]:
    """Return token -> probability: an option's, or the sum of a group's, for its label."""
    messages = cast(list[Mapping[str, str]], request.body["messages"])
    lines = LINE.findall(messages[-1]["content"].split("<state>")[0])
    listed = {label: sum(TRUTH[o] for o in text.split("; ")) for label, text in lines}
    rest = {letter: 0.0 for letter in TOKENS if letter not in listed}
    return {**(listed or {"A": 0.96}), **{**rest, " A": 0.01}, "The": 0.03}


def answered(request: Request) -> Answer:
    """Answer with the likeliest, whatever ids are asked for."""
    return Answer(positions=[likely(distribution(request))])


def by_tokens(request: Request) -> Answer:
    """Answer with the token drawn and with those asked for."""
    ids = request.body.get("logprob_token_ids")
    if not isinstance(ids, list):
        return answered(request)
    p = distribution(request)
    shown = {text: p[text] for text in ("A", *(TEXTS[cast(int, token)] for token in ids))}
    asked = replace(request, body={**request.body, "top_logprobs": len(shown)})
    return Answer(body=render(asked, [Answer(positions=[likely(shown)])]))


def server_of(respond: Respond, *, tokens: Mapping[str, list[int]] | None = None) -> Respond:
    """Return a server's answer, with the tokenizer where vLLM has it."""
    spelled = {text: [token] for text, token in TOKENS.items()} if tokens is None else tokens

    def answer(request: Request) -> Answer:
        if request.path != "/tokenize":
            return respond(request)
        assert request.body["add_special_tokens"] is False
        ids = spelled.get(str(request.body["prompt"]))
        if ids is None:
            return error(404, "Not Found")
        return Answer(body=json.dumps({"count": len(ids), "tokens": ids}).encode())

    return answer


def classifier(
    server: LoopbackServer, options: list[str] = OPTIONS, provider: Provider = ROW
) -> Classifier:
    """Return a classifier of one choice, read from the server."""
    model = OpenAICompatible("m-labels", base_url=server.base_url, provider=provider)
    question = {"type": "choice", "criteria": dict.fromkeys(options)}
    return Classifier("c", model, {"q": question})


def choice(found: Classifier) -> ChoiceAnswer:
    """Return its answer."""
    answer = found.evaluate_sync("text").answers["q"]
    assert isinstance(answer, ChoiceAnswer)
    return answer


def asked(server: LoopbackServer) -> list[Request]:
    """Return the requests that put the question, without tokenizer and probe."""
    return [r for r in server.requests if "<state>" in str(r.body.get("messages"))]


def test_more_options_than_alternatives_are_read_at_once() -> None:
    """24 options at R = 20: one request, every label seen, exact values and no width."""
    with LoopbackServer(server_of(by_tokens)) as server:
        found = choice(classifier(server))

    assert len(asked(server)) == 1
    assert found.evidence is not None and found.probabilities is not None
    assert (found.method, found.evidence.unseen) == ("logprobs", ())
    assert found.label_mass == pytest.approx(0.97)
    assert found.probabilities["option 00"] == pytest.approx(0.51 / 0.97)
    assert found.probabilities["option 23"] == pytest.approx(0.02 / 0.97)
    assert found.bounds is not None and list(found.bounds) == OPTIONS
    for option, (lower, upper) in found.bounds.items():
        assert lower == pytest.approx(found.probabilities[option])
        assert upper == pytest.approx(found.probabilities[option])


def test_each_label_is_asked_for_bare_and_after_a_space() -> None:
    """A server that shows only what is asked for would hide the other spelling."""
    with LoopbackServer(server_of(by_tokens)) as server:
        choice(classifier(server))
    ids = asked(server)[0].body["logprob_token_ids"]
    assert ids == [t for letter in string.ascii_uppercase[:24] for t in _both(letter)]


def _both(letter: str) -> tuple[int, int]:
    return TOKENS[letter], TOKENS[f" {letter}"]


def test_tokens_are_asked_for_once() -> None:
    """By whatever object asks the same address for the same model."""
    with LoopbackServer(server_of(by_tokens)) as server:
        for _ in range(2):
            again = classifier(server)
            again.evaluate_sync("text")
            again.evaluate_sync("other text")
        prompts = [r.body["prompt"] for r in server.requests if r.path == "/tokenize"]
    assert sorted(map(str, prompts)) == sorted(TOKENS)
    assert len(asked(server)) == 4


def test_labels_that_fit_are_read_from_the_likeliest_tokens() -> None:
    """They show every spelling and what else would have been written."""
    with LoopbackServer(server_of(by_tokens)) as server:
        found = choice(classifier(server, OPTIONS[:3]))
    assert "logprob_token_ids" not in asked(server)[0].body
    assert found.evidence is not None
    assert found.label_mass == pytest.approx(0.5 + 0.01 + 2 * 0.02)


def test_a_letter_after_a_space_may_be_two_tokens() -> None:
    """Then the bare one stands alone."""
    tokens = {t: [i] if len(t) == 1 else [220, i] for t, i in TOKENS.items()}
    with LoopbackServer(server_of(by_tokens, tokens=tokens)) as server:
        found = choice(classifier(server))
    ids = [TOKENS[letter] for letter in string.ascii_uppercase[:24]]
    assert asked(server)[0].body["logprob_token_ids"] == ids
    assert found.evidence is not None
    assert found.label_mass == pytest.approx(0.96)


def _refused(request: Request) -> Answer:
    taken = "logprob_token_ids" not in request.body
    return answered(request) if taken else error(400, "extra fields not permitted")


def _something_else(request: Request) -> Answer:
    return Answer(body=b"{}") if request.path == "/tokenize" else by_tokens(request)


@pytest.mark.parametrize(
    "respond",
    [
        pytest.param(server_of(answered), id="field-ignored"),
        pytest.param(server_of(_refused), id="field-refused"),
        pytest.param(server_of(by_tokens, tokens={}), id="no-tokenizer"),
        pytest.param(server_of(by_tokens, tokens={"A": [1, 2], " A": [3]}), id="not-one-token"),
        pytest.param(_something_else, id="no-ids-there"),
    ],
)
def test_a_server_that_cannot_is_read_by_a_tree(respond: Respond) -> None:
    """It is found out once; the question never asks for tokens."""
    with LoopbackServer(respond) as server:
        found = choice(classifier(server))
        again = choice(classifier(server))

    assert found.method == again.method == "tree"
    assert found.choice == "option 00"
    assert found.probabilities == again.probabilities
    assert all("logprob_token_ids" not in request.body for request in asked(server))
    tried = [r for r in server.requests if "logprob_token_ids" in r.body]
    assert len(tried) <= 1


def test_other_providers_are_asked_nothing_new() -> None:
    """Only a row that says so is tried."""
    with LoopbackServer(server_of(by_tokens)) as server:
        choice(classifier(server, provider=replace(ROW, exact_labels=False)))
    assert all(request.path == "/v1/chat/completions" for request in server.requests)
    assert all("logprob_token_ids" not in request.body for request in server.requests)
    assert [n for n, row in PROVIDERS.items() if row.exact_labels] == ["vllm"]


def test_a_label_that_is_lacking_is_no_silent_zero() -> None:
    """The tokens shown are not the likeliest, so they bound no other."""
    position = Position("A", (Alternative("A", -0.1), Alternative(" B", -3.0)))
    endpoint = Endpoint("m", "http://localhost/v1")
    check_shown(Reply("A", (position,)), ("A", "B"), endpoint)
    with pytest.raises(MalformedResponse, match=r"labels \['C'\] were asked for"):
        check_shown(Reply("A", (position,)), ("A", "B", "C"), endpoint)
