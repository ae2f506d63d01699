"""Everything that a page shows of one row when it is opened.

Probabilities are cut to five digits and hashes to sixteen: pages are to be read, and what is exact
stays in the results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from classify.answers import AnyAnswer
from classify.display.views import AnswerView, Bar
from classify.evidence import Evidence, OrderSeen, UsageSeen
from classify.json_values import JSON
from classify.results import Result
from classify.row_labels import Label

_HASH = 16


def row_detail(
    result: Result, views: Iterable[AnswerView], labels: Mapping[str, Sequence[Label]]
) -> dict[str, JSON]:
    """Return a row's facts, those that it lacks left out."""
    kept = isinstance(result.state, str)
    return _known(
        {
            "index": result.index,
            # A text is in the table's columns already.
            "state": None if kept else result.state,
            "left_out": None if result.has_state else True,
            "labels": {name: list(each) for name, each in labels.items()} or None,
            "label_problems": dict(result.label_problems) or None,
            "error": result.error.model_dump(exclude_none=True) if result.error else None,
            "warnings": list(result.warnings) or None,
            "usage": _usage(result.usage),
            "attempts": result.attempts,
            "seconds": _short(result.seconds),
            "response": result.response.id if result.response else None,
            "model": result.response.model_id if result.response else None,
            "answers": {
                view.question: _answer(view, result.answers[view.question]) for view in views
            },
        }
    )


def _answer(view: AnswerView, answer: AnyAnswer) -> JSON:
    return _known(
        {
            "verdict": view.verdict,
            "message": view.message,
            "bars": [_bar(bar) for bar in view.bars] or None,
            "flags": [[flag.name, flag.told] for flag in view.flags] or None,
            "facts": list(view.facts),
            "reason": view.reason,
            "evidence": _evidence(answer.evidence) if answer.evidence else None,
        }
    )


def _bar(bar: Bar) -> JSON:
    return _known(
        {
            "name": bar.name,
            "p": _short(bar.probability),
            "low": None if bar.exact else _short(bar.low),
            "high": None if bar.exact else _short(bar.high),
            "raw": _short(bar.raw),
            "best": bar.best or None,
        }
    )


def _evidence(evidence: Evidence) -> JSON:
    return _known(
        {
            "orders": [_order(order) for order in evidence.orders] or None,
            "unseen": list(evidence.unseen) or None,
            "draws": evidence.draws,
            "written": list(evidence.written) or None,
            "anchors": _shorts(evidence.anchors),
            "prior": _shorts(evidence.prior),
            "calibrator": evidence.calibrator and evidence.calibrator[:_HASH],
            "requested": evidence.requested_model,
            "reported": evidence.reported_model,
            "system": evidence.system_fingerprint,
            "usage": _usage(evidence.usage),
            "attempts": evidence.attempts,
            "seconds": _short(evidence.seconds),
            "at": evidence.at.isoformat(timespec="seconds") if evidence.at else None,
        }
    )


def _order(order: OrderSeen) -> JSON:
    tokens = order.token_logprobs
    return _known(
        {
            "labels": order.labels,
            "probabilities": _shorts(order.probabilities),
            "mass": _short(order.label_mass),
            "position": order.position,
            "alternatives": [
                [seen.token, _short(seen.logprob), seen.label] for seen in order.alternatives
            ]
            or None,
            "tokens": tokens and {word: [_short(p) for p in logs] for word, logs in tokens.items()},
            "path": list(order.path) or None,
            "prompt": order.prompt_hash[:_HASH],
            "response": order.response_id,
        }
    )


def _usage(usage: UsageSeen | None) -> JSON:
    return None if usage is None else usage.model_dump(exclude_none=True) or None


def _known(values: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in values.items() if value is not None}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def _shorts(values: Mapping[str, float] | None) -> JSON:
    return None if values is None else {name: _short(value) for name, value in values.items()}
