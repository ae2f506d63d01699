"""A user's own sampling settings: what they do to logprobs and to draws.

Logprobs are asked for where sampling is neutral, because some servers return those after sampling.
A user's fields are sent all the same, and then said.
"""

from __future__ import annotations

from collections.abc import Mapping

from classify.errors import InvalidInput
from classify.evidence import OrderSeen
from classify.json_values import JSON
from classify.readout import NO_MASS

_NEUTRAL: Mapping[str, tuple[JSON, ...]] = {
    "temperature": (1,),
    "top_p": (1,),
    "top_k": (0, -1),
    "min_p": (0,),
    "typical_p": (1,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "repeat_penalty": (1,),
    "logit_bias": ({},),
}
"""Field -> the values that leave a model's distribution as it is; None always does."""

_ALIKE: Mapping[str, JSON] = {"temperature": 0, "top_k": 1, "top_p": 0}
"""Field -> the value at which every draw is the likeliest token."""


def _changed(fields: Mapping[str, JSON]) -> str:
    """Return the fields that change how a model samples, as "top_p=0.5"; "" for none."""
    changing = {
        name: value
        for name, value in fields.items()
        if name in _NEUTRAL and value is not None and value not in _NEUTRAL[name]
    }
    return ", ".join(
        name if isinstance(value, Mapping) else f"{name}={value!r}"
        for name, value in changing.items()
    )


def logprobs_warning(fields: Mapping[str, JSON], orders: tuple[OrderSeen, ...]) -> str:
    """Return what a user's fields may have done to the logprobs that were read; "" for nothing."""
    changed = _changed(fields)
    if not changed:
        return ""
    exact = ", as they are here: exactly 1 and 0" if _all_or_nothing(orders) else ""
    return (
        f"{changed} among the settings changes how the model samples: where the server's logprobs "
        f"are those after sampling, they are not the model's own{exact}; leave it out"
    )


def draws_warning(fields: Mapping[str, JSON]) -> str:
    """Return what a user's fields have done to the draws that were counted; "" for nothing."""
    changed = _changed(fields)
    if not changed:
        return ""
    return (
        f"{changed} among the settings changes how the model samples: the draws are not of its own "
        "distribution; leave it out"
    )


def draw_fields(fields: Mapping[str, JSON], draw: int) -> dict[str, JSON]:
    """Return the fields to send with one draw of many: a user's seed, moved on by one for each.

    Raises InvalidInput where all draws would be alike.
    """
    for name, value in _ALIKE.items():
        if fields.get(name) is not None and fields[name] == value:
            raise InvalidInput(
                f'{name}={fields[name]!r} makes all draws alike, and fallback="sample" counts how '
                "often each option is drawn: leave it out of the settings and provider_options"
            )
    seed = fields.get("seed")
    if seed is None:
        return {}
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidInput(
            f'seed={seed!r} must be a whole number, so that the draws of fallback="sample" can '
            "have different ones"
        )
    return {"seed": seed + draw}


def _all_or_nothing(orders: tuple[OrderSeen, ...]) -> bool:
    shown = [a.logprob for order in orders for a in order.alternatives]
    return 0.0 in shown and all(p is None or p == 0.0 or p <= NO_MASS for p in shown)
