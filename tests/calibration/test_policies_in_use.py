"""An answer that a policy lets stand is the option that its promise is about."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from classify.answers import ChoiceAnswer, NoVerdict
from classify.calibration.abstention import ConfidencePolicy, CostPolicy, SetPolicy
from classify.calibration.arrays import Floats, Ints
from classify.calibration.prediction_sets import fit_sets, fit_sets_by_class
from classify.classifier import Classifier
from classify.decision import DecisionRequest
from classify.errors import InvalidInput
from classify.evaluation import Evaluation
from classify.questions import Boolean, Choice
from classify.testing import ScriptedModel

PAIR = Choice(criteria={"a": None, "b": None})


def plain(request: DecisionRequest) -> Mapping[str, Mapping[str, object]]:
    """Answer with the probability of "a" that the state names."""
    assert isinstance(request.state, float)
    shares = {"a": request.state, "b": 1.0 - request.state}
    best = max(shares, key=shares.__getitem__)
    return {"q": {"type": "choice", "choice": best, "probabilities": shares}}


def answers(policy: CostPolicy | SetPolicy, p: Floats) -> list[ChoiceAnswer | NoVerdict]:
    """Return what a classifier with the policy says of rows with these probabilities of "a"."""
    classifier = Classifier("c", ScriptedModel(plain), {"q": PAIR}, policies={"q": policy})
    found = classifier.evaluate_many_sync(p.tolist())
    kept: list[ChoiceAnswer | NoVerdict] = []
    for outcome in found:
        assert isinstance(outcome, Evaluation)
        answer = outcome.answers["q"]
        assert isinstance(answer, ChoiceAnswer | NoVerdict)
        kept.append(answer)
    return kept


def two_options(n: int, *, seed: int) -> tuple[Floats, Ints]:
    """Return calibrated log-probabilities (n, 2) of "a" and "b", and the true option."""
    random = np.random.default_rng(seed)
    p = random.beta(4.0, 1.0, n)
    return np.log(np.stack([p, 1.0 - p], axis=1)), (random.random(n) > p).astype(np.int64)


def test_the_cheapest_action_that_is_not_the_likeliest_is_handed_over() -> None:
    """At P(a) = .3 saying "a" costs .7 and "b", the likeliest, 3: more than a person."""
    policy = CostPolicy(costs=((0.0, 10.0), (1.0, 0.0)), escalation_cost=2.0)

    (answer,) = answers(policy, np.array([0.3]))

    assert isinstance(answer, NoVerdict)
    assert answer.cause == "uncertain"
    assert "the policy takes 'a', not the likeliest" in answer.message


def test_no_standing_answer_costs_more_than_a_person() -> None:
    """Its expected cost, by the costs that the policy was given."""
    policy = CostPolicy(costs=((0.0, 1.0), (8.0, 0.0)), escalation_cost=0.5)
    p = np.linspace(0.0, 1.0, 201)

    found = answers(policy, p)

    standing = [
        8.0 * (1.0 - share) if answer.choice == "a" else share
        for answer, share in zip(found, p, strict=True)
        if isinstance(answer, ChoiceAnswer)
    ]
    assert 0 < len(standing) < 201
    assert max(standing) <= 0.5


def test_every_standing_answer_is_the_only_option_of_its_set() -> None:
    """Sets by class may hold only the less likely option."""
    sets = fit_sets_by_class(*two_options(400, seed=0), alpha=0.1)
    p = two_options(300, seed=1)[0]
    members = sets.sets(p)

    found = answers(SetPolicy.from_sets(sets), np.exp(p[:, 0]))

    alone = members.sum(axis=1) == 1
    for answer, row, one in zip(found, members, alone, strict=True):
        if isinstance(answer, ChoiceAnswer):
            assert one
            assert row["ab".index(answer.choice)]
    unlikely = alone & (members.argmax(axis=1) != p.argmax(axis=1))
    assert unlikely.any()
    assert all(isinstance(found[row], NoVerdict) for row in np.flatnonzero(unlikely))


def test_an_answer_without_probabilities_is_handed_over() -> None:
    """A policy cannot promise anything about it."""
    model = ScriptedModel(lambda request: {"q": {"type": "choice", "choice": "a"}})
    policy = ConfidencePolicy(threshold=0.5, guarantee="at most 5 % wrong")

    classifier = Classifier("c", model, {"q": PAIR}, policies={"q": policy})
    answer = classifier.evaluate_sync("t").answers["q"]

    assert isinstance(answer, NoVerdict)
    assert "the model gave no probabilities" in answer.message
    assert answer.probabilities is None


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            CostPolicy(costs=((0.0, 1.0, 2.0), (1.0, 0.0, 2.0)), escalation_cost=1.0),
            r"policies\['q'\].* 2 rows .* 3 columns .* has 2 options.*best_actions",
        ),
        (
            SetPolicy.from_sets(fit_sets(np.zeros((5, 3)), np.arange(5) % 3)),
            r"policies\['q'\].* fitted on 3 options, and the question has 2",
        ),
    ],
    ids=["actions", "sets"],
)
def test_a_policy_for_another_number_of_options_is_refused_at_once(
    policy: CostPolicy | SetPolicy, message: str
) -> None:
    """Nothing is asked, and paid, before."""
    with pytest.raises(InvalidInput, match=message):
        Classifier("c", ScriptedModel(lambda request: {}), {"q": Boolean()}, policies={"q": policy})


@pytest.mark.parametrize("order", ["abc", "bac", "bca", "cba"])
def test_a_tie_is_handed_over_or_not_whatever_the_order_of_the_options(order: str) -> None:
    """Both are the likeliest: .45 is above the threshold, whichever is named."""
    p = {"a": 0.45, "b": 0.45, "c": 0.1}
    named = min("ab", key=order.index)
    shares = {option: p[option] for option in order}
    model = ScriptedModel(
        lambda request: {"q": {"type": "choice", "choice": named, "probabilities": shares}}
    )
    question = Choice(criteria=dict.fromkeys(order))

    def answer(policy: ConfidencePolicy | CostPolicy) -> object:
        built = Classifier("c", model, {"q": question}, policies={"q": policy})
        return built.evaluate_sync("t").answers["q"]

    standing = answer(ConfidencePolicy(threshold=0.4, guarantee="g"))
    assert isinstance(standing, ChoiceAnswer) and standing.choice == named
    assert isinstance(answer(ConfidencePolicy(threshold=0.5, guarantee="g")), NoVerdict)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_tie_stands_only_where_its_own_option_is_cheap_enough(order: str) -> None:
    """At .5 saying "a" costs 4 and "b" .5: a person, at 1, is cheaper than the former."""
    policy = CostPolicy(costs=((0.0, 1.0), (8.0, 0.0)), escalation_cost=1.0)
    shares = {"a": 0.5, "b": 0.5}
    model = ScriptedModel(
        lambda request: {"q": {"type": "choice", "choice": order[0], "probabilities": shares}}
    )
    question = Choice(criteria=dict.fromkeys(order))

    built = Classifier("c", model, {"q": question}, policies={"q": policy})
    answer = built.evaluate_sync("t").answers["q"]

    if order[0] == "b":
        assert isinstance(answer, ChoiceAnswer) and answer.choice == "b"
    else:
        assert isinstance(answer, NoVerdict)
        assert "the policy takes 'b', which is as likely as 'a'; " in answer.message
