"""Every error this package raises on purpose.

ClassifyError
├── InvalidInput             what the caller gave cannot be used (also a ValueError and a TypeError)
│   ├── LabelCollision       two labels of a question cannot be told apart by the model
│   └── UnsupportedQuestion  the model does not answer questions of this kind
├── CalibrationError         data that a calibrator or a metric cannot use (also a ValueError)
├── MissingExtra             an optional library is not installed (also an ImportError)
└── ModelError               the model did not answer
    ├── CapabilityError      it cannot do what was asked, and never will
    ├── ProviderError        the request failed; `retryable` says whether another may succeed
    │   ├── DeadlineExceeded the time given for the answer ran out
    │   └── MalformedResponse  a reply came, but breaks the protocol
    ├── InvalidAnswer        the answers given break the rules of the questions
    └── UnexpectedError      its code, or a transform, raised an error of its own
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any


class ClassifyError(Exception):
    """The root of this package's errors."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let copies and other processes have the message and the facts.

        By default the message would be given to the constructor, and several take facts instead.
        """
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[ClassifyError], args: tuple[object, ...], facts: dict[str, object]
) -> ClassifyError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class InvalidInput(ClassifyError, ValueError, TypeError):
    """Something the caller gave cannot be used; the message names the field and the value.

    A TypeError because the reference raises one, a ValueError because Python would.
    """


class LabelCollision(InvalidInput):
    """Two labels of one question would be read from the same token."""


class UnsupportedQuestion(InvalidInput):
    """The model does not answer questions of this kind."""

    def __init__(self, question: str, kind: str, provider: str, model: str) -> None:
        """Keep the facts as attributes beside the message."""
        super().__init__(
            f"question {question!r} is a {kind} question, and {provider}/{model} does not "
            f"answer those; ask another kind or use another model"
        )
        self.question, self.kind, self.provider, self.model = question, kind, provider, model


class CalibrationError(ClassifyError, ValueError):
    """Data that a calibrator, a metric or a test cannot use."""


class MissingExtra(ClassifyError, ImportError):
    """An optional library is needed and not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        """Name the library, what needs it, and the extra that brings it."""
        super().__init__(
            f"{purpose} needs {library}, which is not installed: "
            f'pip install "classify-kit[{extra}]"'
        )
        self.library, self.extra = library, extra


class ModelError(ClassifyError):
    """The model did not answer."""

    attempts: int | None = None
    """How many requests were made before giving up; None where no retry loop has seen it yet."""


class CapabilityError(ModelError):
    """The endpoint or engine cannot do what was asked, whatever the number of attempts."""


class ProviderError(ModelError):
    """A request failed."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        request_id: str | None = None,
        code: str | None = None,
    ) -> None:
        """Keep what decides about a retry: never headers, keys or bodies."""
        super().__init__(message)
        self.status, self.retryable, self.retry_after = status, retryable, retry_after
        self.request_id, self.code = request_id, code


class DeadlineExceeded(ProviderError):
    """The time given for the answer ran out."""

    def __init__(self, seconds: float, *, attempts: int | None = None) -> None:
        """Name the limit that ran out, and the requests made until then."""
        super().__init__(
            f"no answer within timeout={seconds:g} seconds; give more time, or fewer questions",
            retryable=True,
        )
        self.seconds, self.attempts = seconds, attempts


class MalformedResponse(ProviderError):
    """A reply came that breaks the protocol, such as a positive logprob."""


class InvalidAnswer(ModelError, ValueError, TypeError):
    """The model's answers break the rules of the questions asked."""


class UnexpectedError(ModelError):
    """The model's code or a transform raised an error that is none of ours: see `__cause__`.

    It stands in the place of one state among many, so that the others keep their answers.
    """

    def __init__(self, cause: BaseException, *, attempts: int | None = None) -> None:
        """Name the error and its place, not its text: that may quote what was judged."""
        place = ""
        for frame in traceback.extract_tb(cause.__traceback__)[-1:]:
            place = f" in {frame.name} ({Path(frame.filename).name}:{frame.lineno})"
        super().__init__(
            f"the model's code or a transform raised {type(cause).__name__}{place}: an error of "
            "its own, kept as __cause__"
        )
        self.__cause__, self.attempts = cause, attempts
