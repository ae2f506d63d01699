"""Scorers and classifiers by key and by id: an object that you make and pass on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

from classify.adapters.scorers.scorer_like import ScorerLike
from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.validation import unknown_name


class NotRegistered(InvalidInput, LookupError):
    """Nothing of this key or id is in the registry."""


class _HasId(Protocol):
    # A property here, so that both attributes and properties fit.
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=_HasId)


@runtime_checkable
class NeedsRegistry(Protocol):
    """A scorer that names what it uses by id."""

    def with_registry(self, registry: Registry) -> Self:
        """Return the scorer with a place to look ids up."""
        ...


class Registry:
    """Scorers and classifiers by key and by id.

    Whatever is given without a key has its id as key. A scorer that names its classifier by id
    finds it here when it runs, so classifiers may come later than scorers; it is the scorer that
    the registry hands out that does (`get_scorer`), as scorers themselves never change.

    Raises InvalidInput for a key or an id that is there already.
    """

    def __init__(
        self,
        *,
        scorers: Mapping[str, ScorerLike] | None = None,
        classifiers: Mapping[str, Classifier] | None = None,
    ) -> None:
        """Take key -> scorer and key -> classifier."""
        self._scorers = _Shelf[ScorerLike]("scorer")
        self._classifiers = _Shelf[Classifier]("classifier")
        for key, scorer in (scorers or {}).items():
            self.add_scorer(scorer, key=key)
        for key, classifier in (classifiers or {}).items():
            self.add_classifier(classifier, key=key)

    def add_scorer(
        self, scorer: ScorerLike, *, key: str | None = None, replace: bool = False
    ) -> ScorerLike:
        """Register a scorer and return it as the registry hands it out."""
        bound = scorer.with_registry(self) if isinstance(scorer, NeedsRegistry) else scorer
        self._scorers.add(bound, key, replace=replace)
        return bound

    def add_classifier(
        self, classifier: Classifier, *, key: str | None = None, replace: bool = False
    ) -> None:
        """Register a classifier."""
        self._classifiers.add(classifier, key, replace=replace)

    def remove_scorer(self, key: str) -> None:
        """Take a scorer out; raises NotRegistered."""
        self._scorers.remove(key)

    def remove_classifier(self, key: str) -> None:
        """Take a classifier out; raises NotRegistered."""
        self._classifiers.remove(key)

    def get_scorer(self, key: str) -> ScorerLike:
        """Return the scorer with this key; raises NotRegistered."""
        return self._scorers.by_key(key)

    def get_scorer_by_id(self, id: str) -> ScorerLike:
        """Return the scorer with this id; raises NotRegistered."""
        return self._scorers.by_id(id)

    def list_scorers(self) -> Mapping[str, ScorerLike]:
        """Return key -> scorer, in the order of registration."""
        return self._scorers.all()

    def get_classifier(self, key: str) -> Classifier:
        """Return the classifier with this key; raises NotRegistered."""
        return self._classifiers.by_key(key)

    def get_classifier_by_id(self, id: str) -> Classifier:
        """Return the classifier with this id; raises NotRegistered."""
        return self._classifiers.by_id(id)

    def list_classifiers(self) -> Mapping[str, Classifier]:
        """Return key -> classifier, in the order of registration."""
        return self._classifiers.all()


class _Shelf(Generic[T]):
    """Things of one kind by key; no two have the same id."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._things: dict[str, T] = {}

    def add(self, thing: T, key: str | None, *, replace: bool) -> None:
        key = thing.id if key is None else key
        if not isinstance(key, str) or not key.strip():
            raise InvalidInput(f"a {self._what}'s key must be a non-empty string, got {key!r}")
        if key in self._things and not replace:
            raise InvalidInput(
                f"there is a {self._what} with the key {key!r} already; "
                f"give another key, or replace=True"
            )
        for other, there in self._things.items():
            if there.id == thing.id and other != key:
                raise InvalidInput(
                    f"there is a {self._what} with the id {thing.id!r} already, under the key "
                    f"{other!r}; ids must be unique in a registry"
                )
        self._things[key] = thing

    def remove(self, key: str) -> None:
        self.by_key(key)
        del self._things[key]

    def by_key(self, key: str) -> T:
        if key not in self._things:
            raise NotRegistered(self._not_found(f"{self._what} key", key, list(self._things)))
        return self._things[key]

    def by_id(self, id: str) -> T:
        for thing in self._things.values():
            if thing.id == id:
                return thing
        known = [thing.id for thing in self._things.values()]
        raise NotRegistered(self._not_found(f"{self._what} id", id, known))

    def all(self) -> Mapping[str, T]:
        return MappingProxyType(dict(self._things))

    def _not_found(self, what: str, name: str, known: list[str]) -> str:
        if not known:
            return f"unknown {what} {name!r}: the registry holds no {self._what}"
        return unknown_name(what, name, known)
