"""Split texts into the tokens with which a model would continue a prompt.

A text's tokens depend on what stands before it (" positive" is one token after "Sentiment:"), so
prompt and text are always tokenised together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from classify.adapters.models.llama_replies import Token
from classify.errors import InvalidInput

Tokenize: TypeAlias = Callable[[str, bool], Awaitable[tuple[Token, ...]]]
"""Tokenise a text, with the model's begin-of-sequence token in front or without."""

# A shorter beginning costs more as a request of its own than it saves the next question.
_WORTH_KEEPING = 16


@dataclass(frozen=True, slots=True)
class Continuations:
    """A prompt and its continuations, in tokens."""

    prompt: tuple[Token, ...]
    """Without its last tokens where a text merges with them."""
    texts: tuple[tuple[Token, ...], ...]
    """For each text, the tokens that follow `prompt`, the merged ones included."""

    @property
    def pieces(self) -> tuple[tuple[int, ...], ...]:
        """The prompt cut after its last line break.

        Questions about one state differ in the last line, so the piece before it is evaluated
        once. Cutting depends on the prompt alone: the same prompt is cut the same way every time.
        """
        ids = tuple(token.id for token in self.prompt)
        cut = _last_line(self.prompt)
        return (ids[:cut], ids[cut:]) if cut >= _WORTH_KEEPING else (ids,)

    @property
    def next_tokens(self) -> dict[tuple[int, ...], tuple[Token, ...]]:
        """Every beginning shared by texts -> the tokens that follow it; parents come first."""
        following: dict[tuple[int, ...], dict[int, Token]] = {}
        for text in self.texts:
            for end, token in enumerate(text):
                before = tuple(t.id for t in text[:end])
                following.setdefault(before, {})[token.id] = token
        return {
            before: tuple(following[before][token] for token in sorted(following[before]))
            for before in sorted(following)
        }


async def continuations(prompt: str, texts: Sequence[str], *, tokenize: Tokenize) -> Continuations:
    """Tokenise the prompt with each text.

    Raises InvalidInput for a prompt without tokens, no texts, or an empty text.
    """
    if not texts or not all(texts):
        raise InvalidInput(f"texts must be one or more non-empty strings, got {list(texts)!r}")
    whole = await tokenize(prompt, True)
    if not whole:
        raise InvalidInput(f"the prompt must hold at least one token, got {prompt!r}")
    # Only the last line can matter, and it is the same for many prompts: cached by the caller.
    last = whole[_last_line(whole) :]
    line = "".join(token.piece for token in last if isinstance(token.piece, str))
    if await tokenize(line, False) == last:
        joint = [await tokenize(line + text, False) for text in texts]
        if kept := _shared(last, joint):
            return _after(whole[: len(whole) - len(last) + kept], kept, joint)
    joint = [await tokenize(prompt + text, True) for text in texts]
    kept = _shared(whole, joint)
    if not kept:
        raise InvalidInput(
            f"the texts {list(texts)!r} merge with the whole prompt {prompt!r}: end the prompt "
            f"with a colon, and begin the texts with a space"
        )
    return _after(whole[:kept], kept, joint)


def _after(
    prompt: tuple[Token, ...], kept: int, joint: Sequence[tuple[Token, ...]]
) -> Continuations:
    return Continuations(prompt, tuple(tokens[kept:] for tokens in joint))


def _shared(prompt: tuple[Token, ...], joint: Sequence[tuple[Token, ...]]) -> int:
    """Return how many tokens of the prompt all joint tokenisations keep."""
    kept = len(prompt)
    for tokens in joint:
        same = 0
        while same < min(kept, len(tokens) - 1) and tokens[same] == prompt[same]:
            same += 1
        kept = same
    return kept


def _last_line(tokens: Sequence[Token]) -> int:
    """Return where the last line begins; never at the end."""
    for index in range(len(tokens) - 2, -1, -1):
        piece = tokens[index].piece
        if isinstance(piece, str) and "\n" in piece:
            return index + 1
    return 0
