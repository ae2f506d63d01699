"""Read API keys from the environment, and say what is missing without saying what is there."""

from __future__ import annotations

import os

from classify.errors import InvalidInput
from classify.provider_table import PROVIDERS, Provider


def read_key(provider: Provider, given: str | None) -> str | None:
    """Return the key given, or else the one in the provider's variable; None where neither is.

    Raises InvalidInput for one that cannot stand in a header.
    """
    variable = provider.key_variable
    key = given if given is not None or variable is None else os.environ.get(variable)
    if key is None or not key.strip():
        return None
    key = key.strip()
    if not key.isascii() or any(character.isspace() for character in key):
        where = "api_key" if given is not None else f"the environment variable {variable}"
        raise InvalidInput(
            f"{where} holds no key: there is white space in it, or characters beyond ASCII; "
            f"copy it again"
        )
    return key


def keys_set() -> dict[str, str]:
    """Return the key variables that are set: variable -> provider."""
    return {
        row.key_variable: row.name
        for row in PROVIDERS.values()
        if row.key_variable and os.environ.get(row.key_variable, "").strip()
    }


def missing_key(provider: Provider) -> InvalidInput:
    """Return the error for a provider whose key is not set."""
    variable = provider.key_variable
    return InvalidInput(
        f"model {provider.name + '/…'!r} needs a key, and {variable} is not set: set it with "
        f"export {variable}=… (Windows: setx {variable} …), or name another model, such as "
        f"'local', which needs none"
    )
