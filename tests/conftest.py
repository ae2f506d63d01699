"""Settings of the whole test suite: the same examples every time, no clock, no keys of the user."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from classify.provider_table import PROVIDERS

# A busy machine is no fault, and a test that fails now and then tells nothing.
settings.register_profile("classify", deadline=None, derandomize=True)
settings.load_profile("classify")

# A shell starts what runs in its background with Ctrl-C ignored, and processes inherit that: tests
# that interrupt one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the keys and addresses in the user's environment out of the tests."""
    for provider in PROVIDERS.values():
        for variable in (provider.key_variable, provider.base_url_variable):
            if variable is not None and variable in os.environ:
                monkeypatch.delenv(variable)
