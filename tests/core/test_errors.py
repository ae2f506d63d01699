"""Errors reach other processes and copies as they are."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from classify.answers import NoVerdict
from classify.errors import (
    ClassifyError,
    DeadlineExceeded,
    InvalidInput,
    MalformedResponse,
    MissingExtra,
    ProviderError,
    UnsupportedQuestion,
)
from classify.question_sets import NoVerdictError


def _pickled(error: ClassifyError) -> ClassifyError:
    found: object = pickle.loads(pickle.dumps(error))
    assert isinstance(found, ClassifyError)
    return found


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(_pickled, id="pickle"),
        pytest.param(copy.copy, id="copy"),
        pytest.param(copy.deepcopy, id="deepcopy"),
    ],
)
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(InvalidInput("state is wrong"), id="message"),
        pytest.param(DeadlineExceeded(3.0), id="deadline"),
        pytest.param(UnsupportedQuestion("q", "score", "p", "m"), id="unsupported"),
        pytest.param(MissingExtra("pyarrow", "parquet", "Parquet"), id="extra"),
        pytest.param(ProviderError("no", status=429, retry_after=2.0), id="provider"),
        pytest.param(MalformedResponse("no", request_id="r"), id="malformed"),
        pytest.param(
            NoVerdictError("q", NoVerdict(kind="boolean", cause="refusal", message="no")),
            id="no verdict",
        ),
    ],
)
def test_an_error_survives_copying_with_its_message_and_facts(
    error: ClassifyError, again: Callable[[ClassifyError], ClassifyError]
) -> None:
    """A pool of processes waits for ever for an error that it cannot read."""
    found = again(error)
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)
