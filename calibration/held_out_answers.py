"""What a calibrator was worth on rows that it did not see: metrics, and answers for thresholds."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, FiniteFloat, model_validator

from classify.calibration.abstention import confidences
from classify.calibration.arrays import Floats, Ints
from classify.calibration.fitted import Frozen
from classify.calibration.measurement import Measurement
from classify.calibration.proper_scores import LogLoss

Interval = tuple[FiniteFloat, FiniteFloat]


class HeldOutMetric(Frozen):
    """A metric of rows that the calibrator did not see, before and after it."""

    name: Annotated[str, Field(min_length=1)]
    """As `classify metrics` names it."""
    before: FiniteFloat
    after: FiniteFloat
    rules: tuple[str, str] = ("", "")
    """How the two were computed; "" in files that kept no rules."""
    n: int | None = Field(default=None, ge=1)
    """How many rows counted; None in files that did not say."""
    intervals: tuple[Interval | None, Interval | None] = (None, None)
    """Of the two, each where it has one."""

    @classmethod
    def of(
        cls, name: str, before: Measurement | LogLoss, after: Measurement | LogLoss
    ) -> HeldOutMetric:
        """Return a metric as it was measured on the same rows before and after."""
        return cls(
            name=name,
            before=before.value,
            after=after.value,
            rules=(before.rule, after.rule),
            n=after.n,
            intervals=(_interval(before), _interval(after)),
        )


def _interval(found: Measurement | LogLoss) -> Interval | None:
    if isinstance(found, LogLoss) or found.low is None or found.high is None:
        return None
    return found.low, found.high


class HeldOutAnswers(Frozen):
    """The answers that each labelled item would get from a fit without it: for any threshold."""

    confidence: tuple[Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)], ...]
    """The probability of the likeliest option."""
    wrong: tuple[bool, ...]
    """Whether that option was not the one that labels name most often; of a tie, always."""
    weighted: bool = False
    """Whether labels counted unequally: no threshold can then promise a share of answers."""

    @model_validator(mode="after")
    def _one_length(self) -> HeldOutAnswers:
        if len(self.confidence) != len(self.wrong):
            raise ValueError(
                f"confidence has {len(self.confidence)} rows and wrong has {len(self.wrong)}"
            )
        return self

    @classmethod
    def of(
        cls,
        log_p: ArrayLike,
        y: Ints,
        *,
        weights: Floats | None = None,
        items: Ints | None = None,
    ) -> HeldOutAnswers:
        """Return what cross-fitted log-probabilities (n, K) and true options (n,) come to.

        `items` (n,) numbers the item of each label; each is its own if None. An item labelled
        several times has the answer of its first row, which is right only where that is the option
        most of its labels name: a tie counts as wrong. Rows of weight zero are left out.
        """
        w = np.ones(len(y)) if weights is None else weights
        x, truth = np.asarray(log_p, dtype=np.float64)[w > 0.0], y[w > 0.0]
        numbers = np.arange(len(y)) if items is None else items
        _, first, item = np.unique(numbers[w > 0.0], return_index=True, return_inverse=True)
        answers = x[first]
        named = np.zeros(answers.shape)
        np.add.at(named, (item, truth), 1.0)
        most = named == named.max(axis=1, keepdims=True, initial=0.0)
        right = most[np.arange(len(first)), answers.argmax(axis=1)] & (most.sum(axis=1) == 1)
        return cls(
            confidence=tuple(confidences(answers).tolist()),
            wrong=tuple((~right).tolist()),
            weighted=len(np.unique(w[w > 0.0])) > 1,
        )
