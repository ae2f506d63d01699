"""Questions of three kinds and their rules.

A question knows its options and the words that stand for them. It knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias
from unicodedata import normalize

from pydantic import Field, JsonValue, model_validator

from classify.display.notebook import Shown
from classify.errors import LabelCollision
from classify.json_values import check_json, is_list, is_object
from classify.validation import Strict

if TYPE_CHECKING:
    from classify.display.cards import Card

Words: TypeAlias = str | Sequence[str]
"""The words that stand for an option; several are alternatives whose probabilities add up."""

Kind: TypeAlias = Literal["choice", "score", "boolean"]


class _Question(Shown, Strict):
    instructions: JsonValue = None
    """What is asked about the state, any JSON value; where absent, the question's id is asked."""
    cue: str | None = Field(default=None, min_length=1)
    """For the words readout: the text right before the answer's words ("Sentiment:"), in place
    of the question's id."""

    @model_validator(mode="before")
    @classmethod
    def _instructions_are_json(cls, values: object) -> object:
        if is_object(values):
            check_json(values.get("instructions"), "instructions")
        return values

    def _card(self) -> Card:
        from classify.display.question_cards import question_card

        assert isinstance(self, Choice | Score | Boolean)  # the union is closed
        return question_card(self)


class Choice(_Question):
    """A question answered by one of the named options."""

    type: Literal["choice"] = "choice"
    criteria: Mapping[str, JsonValue]
    """Option -> its description, or None; at least one option."""
    words: Mapping[str, Words] | None = None
    """Option -> the words that stand for it in the words and sequence readouts (its name)."""

    @model_validator(mode="before")
    @classmethod
    def _criteria_name_options(cls, values: object) -> object:
        if not is_object(values):
            return values
        criteria = values.get("criteria")
        if not is_object(criteria) or not criteria:
            raise ValueError(
                "criteria must be a non-empty object of option: description "
                f"(a description may be null), got {criteria!r}"
            )
        for option, description in criteria.items():
            if not isinstance(option, str) or not option.strip():
                raise ValueError(f"option names must be non-empty strings, got {option!r}")
            check_json(option, "criteria")
            check_json(description, f"criteria.{option}")
        return values

    @model_validator(mode="after")
    def _words_fit(self) -> Self:
        if self.words is not None and set(self.words) != set(self.criteria):
            raise ValueError(
                f"words must name every option, {list(self.criteria)!r}, got {list(self.words)!r}"
            )
        _check_words({option: self.spellings(option) for option in self.criteria})
        return self

    @property
    def options(self) -> tuple[str, ...]:
        """The options as declared."""
        return tuple(self.criteria)

    def described(self, option: str) -> JsonValue:
        """Return the description of an option, None where it has none."""
        return self.criteria[option]

    def spellings(self, option: str) -> tuple[str, ...]:
        """Return the words that stand for an option, the first one first."""
        return _several(option.replace("_", " ") if self.words is None else self.words[option])


class Score(_Question):
    """A question answered on ordered levels, 0 for the first (worst) and so on."""

    type: Literal["score"] = "score"
    criteria: Sequence[JsonValue]
    """The levels' descriptions, worst to best; at least two. A level's index is its value."""
    words: Sequence[Words] | None = None
    """For the words and sequence readouts: a word for each level, or two that stand for the
    worst and the best end; where absent, the levels' descriptions."""

    @model_validator(mode="before")
    @classmethod
    def _criteria_are_levels(cls, values: object) -> object:
        if not is_object(values):
            return values
        criteria = values.get("criteria")
        if not is_list(criteria) or len(criteria) < 2:
            raise ValueError(
                f"criteria must be a list of at least two levels, worst to best, got {criteria!r}"
            )
        for index, level in enumerate(criteria):
            if level is None or level == "":
                raise ValueError(f"criterion {index} is missing: describe every level")
            check_json(level, f"criteria[{index}]")
        return values

    @model_validator(mode="after")
    def _words_fit(self) -> Self:
        if self.words is not None and len(self.words) not in (2, len(self.criteria)):
            raise ValueError(
                f"words must name every level ({len(self.criteria)}) or the two ends, "
                f"got {self.words!r}"
            )
        if self.words is not None:
            _check_words({str(level): _several(words) for level, words in enumerate(self.words)})
        return self

    @property
    def options(self) -> tuple[str, ...]:
        """The levels' indices as text, "0" first."""
        return tuple(str(level) for level in range(len(self.criteria)))

    @property
    def anchored(self) -> bool:
        """Whether two words stand for the ends of a longer scale."""
        return self.words is not None and len(self.words) < len(self.criteria)

    def described(self, option: str) -> JsonValue:
        """Return the description of a level."""
        return self.criteria[int(option)]

    def spellings(self, option: str) -> tuple[str, ...]:
        """Return the words that stand for a level; its index where it has none."""
        level = int(option)
        if self.words is not None:
            return _several(self.words[-1 if self.anchored and level else level])
        text = self.criteria[level]
        return (text if isinstance(text, str) else option,)


class Boolean(_Question):
    """A question answered by yes or no."""

    type: Literal["boolean"] = "boolean"
    criteria: Mapping[str, JsonValue] | None = None
    """"true" -> when the answer is yes, "false" -> when it is no; either may be absent or None."""
    words: Mapping[str, Words] | None = None
    """The words that stand for "true" and "false" in the words and sequence readouts (yes, no)."""

    @model_validator(mode="before")
    @classmethod
    def _keys_are_true_and_false(cls, values: object) -> object:
        if not is_object(values):
            return values
        changed = dict(values)
        changed.update({field: _by_truth(field, values.get(field)) for field in _TRUTH_FIELDS})
        return changed

    @model_validator(mode="after")
    def _words_fit(self) -> Self:
        if self.words is not None and set(self.words) != {"true", "false"}:
            raise ValueError(f"words must name both true and false, got {list(self.words)!r}")
        _check_words({option: self.spellings(option) for option in self.options})
        return self

    @property
    def options(self) -> tuple[str, ...]:
        """True first."""
        return ("true", "false")

    def described(self, option: str) -> JsonValue:
        """Return when this answer holds, None where it is not said."""
        return (self.criteria or {}).get(option)

    def spellings(self, option: str) -> tuple[str, ...]:
        """Return the words that stand for true or false."""
        return _several({"true": "yes", "false": "no", **(self.words or {})}[option])


Question: TypeAlias = Annotated[Choice | Score | Boolean, Field(discriminator="type")]
"""A question of any of the three kinds; `type` says which."""


_TRUTH_FIELDS = ("criteria", "words")


def _by_truth(field: str, given: object) -> object:
    if given is None:
        return None
    if not is_object(given):
        raise ValueError(f"{field} must be an object with true and false, got {given!r}")
    named: dict[str, object] = {}
    for key, value in given.items():
        # YAML and Python write these keys as booleans.
        name = str(key).lower() if isinstance(key, bool) else key
        if name not in ("true", "false"):
            raise ValueError(f"{field} may only have the keys true and false, got {key!r}")
        check_json(value, f"{field}.{name}")
        if name in named:
            raise ValueError(f"{field} has {name} twice, as a text and as a truth value")
        named[name] = value
    return named


def _several(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else tuple(words)


def _as_read(word: str) -> str:
    # What people take for the same word: in whatever case, and however its accents are encoded.
    return normalize("NFC", word.strip().casefold())


def _check_words(words: Mapping[str, tuple[str, ...]]) -> None:
    seen: dict[str, str] = {}
    for option, spellings in words.items():
        if not spellings or len(set(spellings)) < len(spellings):
            raise ValueError(
                f"the words for {option!r} must be at least one and none twice, got {spellings!r}"
            )
        for word in spellings:
            if not word.strip():
                raise ValueError(f"the words for {option!r} must not be blank, got {word!r}")
            first = seen.setdefault(_as_read(word), option)
            if first != option:
                raise LabelCollision(
                    f"options {first!r} and {option!r} have the same words, {word!r}: give them "
                    "different words"
                )
