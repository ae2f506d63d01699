"""The classifier of a spec with the calibrators that the command line names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from classify.adapters.cli.console import say
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.classifier import Classifier
    from classify.spec import Spec

Calibrators: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--calibrator",
        metavar="[QUESTION=]FILE",
        help="Calibrators of `classify calibrate`, each for the question it was fitted on.",
    ),
]
Accept: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="PART",
        help="Use calibrators although this part of how answers are made differs "
        "(model, readout, library …); kept with every answer.",
    ),
]
Abstain: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--abstain",
        metavar="ALPHA",
        help="Hand answers over to people, so that at most this share of the others is wrong.",
    ),
]


def calibrated_classifier(
    spec: Spec,
    model: str | None,
    *,
    calibrators: Sequence[str],
    accept: Sequence[str],
    abstain: float | None,
) -> Classifier:
    """Return the classifier; say which questions have no calibrator, and what is guaranteed."""
    if abstain is not None and not 0.0 < abstain < 1.0:
        raise InvalidInput(
            f"--abstain must be a share of wrong answers above 0 and below 1, such as 0.05, got "
            f"{abstain:g}"
        )
    if not calibrators:
        return spec.classifier(model)
    from classify.calibration.choosing import chosen_calibrators

    chosen = chosen_calibrators(
        calibrators, spec.questions, orders=spec.options.orders, accept=accept
    )
    for name in spec.questions.keys() - chosen.keys():
        say(f"{name}: no calibrator, and so no abstention")
    if abstain is None:
        return spec.classifier(model, calibrators=chosen)
    policies = {name: each.policy(alpha=abstain) for name, each in chosen.items()}
    for name, policy in policies.items():
        say(f"{name}: {policy.guarantee}")
    return spec.classifier(model, calibrators=chosen, policies=policies)
