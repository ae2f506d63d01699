"""A registry holds scorers and classifiers by key and by id, and nothing is shared between two."""

from __future__ import annotations

import pytest

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.classifier_scorer import create_classifier_scorer
from classify.adapters.scorers.registry import NotRegistered, Registry
from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.questions import Boolean
from classify.testing import ScriptedModel

ONE = create_scorer("one").generate_score(lambda _: 1.0)
OTHER_ONE = create_scorer("one").generate_score(lambda _: 0.0)
RUBRIC = Classifier("rubric", ScriptedModel(lambda _: {}), {"q": Boolean()})


def test_what_is_registered_is_found_by_key_and_by_id() -> None:
    """The key is the user's own, the id is the thing's."""
    registry = Registry(scorers={"first": ONE}, classifiers={"judge": RUBRIC})
    assert registry.get_scorer("first") is registry.get_scorer_by_id("one") is ONE
    assert registry.get_classifier("judge") is registry.get_classifier_by_id("rubric") is RUBRIC
    assert dict(registry.list_scorers()) == {"first": ONE}
    assert dict(registry.list_classifiers()) == {"judge": RUBRIC}


def test_the_id_is_the_key_where_none_is_given() -> None:
    """Most people have one name for a thing."""
    registry = Registry()
    assert registry.add_scorer(ONE) is ONE
    registry.add_classifier(RUBRIC)
    assert (list(registry.list_scorers()), list(registry.list_classifiers())) == (
        ["one"],
        ["rubric"],
    )


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    """None instead would fail later, elsewhere."""
    registry = Registry(scorers={"first": ONE})
    with pytest.raises(NotRegistered, match="unknown scorer key 'frist': did you mean 'first'"):
        registry.get_scorer("frist")
    with pytest.raises(LookupError, match="unknown scorer id 'on': did you mean 'one'"):
        registry.get_scorer_by_id("on")
    with pytest.raises(NotRegistered, match="unknown classifier key 'x': the registry holds no"):
        registry.get_classifier("x")
    with pytest.raises(NotRegistered, match="unknown classifier id 'x': the registry holds no"):
        registry.get_classifier_by_id("x")


def test_a_key_or_an_id_is_taken_once() -> None:
    """With two of one id, which one is found would be chance."""
    registry = Registry(scorers={"first": ONE})
    with pytest.raises(InvalidInput, match="key 'first' already; give another key, or replace"):
        registry.add_scorer(OTHER_ONE, key="first")
    with pytest.raises(InvalidInput, match="id 'one' already, under the key 'first'"):
        registry.add_scorer(OTHER_ONE, key="second")
    with pytest.raises(InvalidInput, match="key must be a non-empty string, got ' '"):
        registry.add_scorer(ONE, key=" ")


def test_what_is_registered_can_be_replaced_and_removed() -> None:
    """Stored scorers change and are deleted."""
    registry = Registry(scorers={"first": ONE}, classifiers={"judge": RUBRIC})
    registry.add_scorer(OTHER_ONE, key="first", replace=True)
    assert registry.get_scorer_by_id("one") is OTHER_ONE
    registry.remove_scorer("first")
    registry.remove_classifier("judge")
    assert not registry.list_scorers()
    assert not registry.list_classifiers()
    with pytest.raises(NotRegistered, match="unknown scorer key 'first'"):
        registry.remove_scorer("first")


def test_two_registries_share_nothing() -> None:
    """Row 20839: with a list behind the whole process, every instance would run every scorer."""
    Registry(scorers={"first": ONE})
    assert not Registry().list_scorers()


def test_a_scorer_that_has_its_classifier_is_handed_out_as_it_is() -> None:
    """There is nothing to look up, and another registry's choice is not overruled."""
    own = create_classifier_scorer("own", RUBRIC, "q", lambda context: str(context.run.output))
    by_id = create_classifier_scorer(
        "by-id", "rubric", "q", lambda context: str(context.run.output), registry=Registry()
    )
    registry = Registry(scorers={"own": own, "by-id": by_id})
    assert registry.get_scorer("own") is own
    assert registry.get_scorer("by-id") is by_id
    assert own.classifier is RUBRIC
