"""The ready-made processors by themselves: retries, redaction, lengths."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers import (
    PATTERNS,
    ErrorProcessor,
    InputProcessor,
    LengthLimit,
    OutputProcessor,
    Redact,
    RetryProcessor,
    ScorerDefinitionError,
    Shorten,
)
from classify.adapters.scorers.retrying import causes, growing_delay
from classify.errors import InvalidInput, ProviderError
from classify.language_model import Message

BUSY = ProviderError("busy", status=503, retryable=True)


def one_more(retries: int) -> float:
    """Wait a second longer each time."""
    return 1.0 + retries


def endless(retries: int) -> float:
    """Overflow."""
    return -math.inf


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        (2.5, 2.5),
        (one_more, 4.0),
        (-1.0, 0.0),
        (math.nan, 0.0),
        (math.inf, 0.0),
        (endless, 0.0),
    ],
    ids=["number", "function", "negative", "nan", "inf", "function of inf"],
)
def test_a_delay_is_a_number_or_a_function(
    delay: float | Callable[[int], float], seconds: float
) -> None:
    """What is no time to wait is none at all."""
    assert RetryProcessor(delay=delay).seconds(BUSY, 3) == seconds


@given(st.integers(0, 50))
def test_the_delay_of_itself_grows_and_is_bounded(retries: int) -> None:
    """Endless failures never add up to hours."""
    base = min(0.5 * 2.0**retries, 8.0)

    assert base <= growing_delay(retries) <= 1.25 * base


def test_retry_after_is_found_behind_other_errors() -> None:
    """A wrapper must not hide what the server asked for."""
    outer = RuntimeError("wrapped")
    outer.__cause__ = ProviderError("busy", status=429, retryable=True, retry_after=3.0)

    assert RetryProcessor(delay=9.0).seconds(outer, 0) == 3.0


@pytest.mark.parametrize(
    ("error", "retried"),
    [
        (BUSY, True),
        (ProviderError("no", status=401), False),
        (InvalidInput("no"), False),
        (RuntimeError("unknown"), True),
    ],
    ids=["transient", "refused", "invalid", "unknown"],
)
def test_unknown_errors_are_those_of_nobody_here(error: Exception, retried: bool) -> None:
    """The option for the unknown does not retry what is known to be of no use."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    processor = RetryProcessor(retry_unknown_errors=True, sleep=wait)

    assert asyncio.run(processor.process_error(error, retry_count=0)) is retried
    assert len(waits) == retried


def test_a_chain_of_causes_may_be_a_circle() -> None:
    """Errors that were raised again while they were handled sometimes are."""
    first, second = RuntimeError("1"), RuntimeError("2")
    first.__cause__, second.__cause__ = second, first

    assert list(causes(first)) == [first, second]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"max_retries": -1}, "max_retries must be a non-negative integer, got -1"),
        ({"max_retries": True}, "max_retries must be a non-negative integer, got True"),
        ({"max_retry_after": math.nan}, "max_retry_after must be seconds of at least 0, got nan"),
    ],
    ids=["negative", "bool", "nan"],
)
def test_unusable_numbers_are_refused(settings: dict[str, Any], match: str) -> None:
    """A retry that never comes, or never ends, is found where it is written."""
    with pytest.raises(ScorerDefinitionError, match=match):
        RetryProcessor(**settings)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("write to ann.b+c@mail.example.org now", "write to [email] now"),
        ("call +44 20 7946 0958 today", "call [phone] today"),
        ("ring 030 / 1234567 or (555) 010-9999", "ring [phone] or [phone]"),
        ("order 123456 of 2024-01-15 is late", "order 123456 of 2024-01-15 is late"),
        ('{"score": 0.123456789}', '{"score": 0.123456789}'),
        ("card 4111 1111 1111 1111 expired", "card [card] expired"),
        ("pay to GB82 WEST 1234 5698 7654 32 please", "pay to [iban] please"),
        ("from 192.168.0.17 again", "from [ip] again"),
        ("key sk-abcdefghijklmnop1234 leaked", "key [key] leaked"),
        ("In 2024, 3 of 10 agreed (0.5).", "In 2024, 3 of 10 agreed (0.5)."),
    ],
    ids=[
        "email",
        "phone",
        "phones",
        "order and date",
        "score",
        "card",
        "iban",
        "ip",
        "key",
        "nothing",
    ],
)
def test_ready_made_patterns(text: str, redacted: str) -> None:
    """What people paste into support messages; plain numbers stay."""
    assert Redact().text(text) == redacted


def test_patterns_of_ones_own() -> None:
    """They are applied in their order, and a name may hold anything."""
    redact = Redact({r"\1 name": r"Ann \w+", **PATTERNS})

    assert redact.text("Ann Smith, ann@example.org") == r"[\1 name], [email]"


def test_a_pattern_that_is_none_is_refused() -> None:
    """It is named."""
    with pytest.raises(ScorerDefinitionError, match=r"patterns\['broken'\] is no regular expr"):
        Redact({"broken": "("})


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_shortened_prompt_keeps_its_ends(text: str, most: int) -> None:
    """Nothing is cut without a word, and what is left are the text's own ends."""
    message = Message("user", text)

    cut = Shorten(most).text(message)

    if len(text) <= most:
        assert cut == text
    else:
        head, note, tail = cut[: most - most // 2], cut[most - most // 2 :], cut[-(most // 2) :]
        assert text.startswith(head) and f"[{len(text) - most} characters left out]" in note
        assert most < 2 or text.endswith(tail)


def test_instructions_are_never_cut() -> None:
    """A judge without its last rule is another judge."""
    system = Message("system", "long instructions")

    assert list(Shorten(3).process_input([system])) == [system]


def test_a_length_limit_refuses_an_answer_too() -> None:
    """An essay where a number was asked for is no answer."""
    assert LengthLimit(3).process_output("abc") == "abc"
    with pytest.raises(InvalidInput, match="answer has 4 characters, more than the limit of 3"):
        LengthLimit(3).process_output("abcd")


@pytest.mark.parametrize("most", [0, -1, 1.5, True], ids=repr)
def test_a_limit_is_a_whole_number(most: Any) -> None:
    """Nothing at all is no limit anyone wants."""
    with pytest.raises(ScorerDefinitionError, match="max_characters must be a whole number"):
        LengthLimit(most)


def test_the_ready_made_processors_are_what_a_judge_takes() -> None:
    """Their protocols are checked at run time too."""
    assert isinstance(Redact(), InputProcessor) and isinstance(Redact(), OutputProcessor)
    assert isinstance(LengthLimit(1), InputProcessor) and isinstance(Shorten(1), InputProcessor)
    assert isinstance(RetryProcessor(), ErrorProcessor)
