"""A scorer as one of Inspect's: `Task(..., scorer=inspect_scorer(scorer))`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from classify.adapters.frameworks.libraries import load
from classify.adapters.frameworks.shapes import to_inspect
from classify.adapters.scorers.scorer_like import ScorerLike


# Any: Inspect's types exist only where its library is installed.
def inspect_scorer(
    scorer: ScorerLike,
    *,
    metrics: Sequence[Any] | None = None,
    arguments: Callable[[Any, Any], Mapping[str, Any]] | None = None,
) -> Any:
    """Return an Inspect scorer that runs ours, with the mean and its standard error as metrics.

    `arguments(state, target)` gives the arguments of `scorer.run`; without it they are the
    sample's input, the completion, the target's text as ground truth and the sample's metadata as
    request context, and for scorers of type "agent" the messages as input and output. A failed
    run fails the sample, as Inspect decides. Raises MissingExtra without inspect-ai.
    """
    library = load("inspect_ai.scorer", "inspect")
    chosen = [library.mean(), library.stderr()] if metrics is None else list(metrics)
    read = arguments or (_agent_arguments if scorer.type == "agent" else _arguments)

    def made() -> Any:
        async def score(state: Any, target: Any) -> Any:
            result = await scorer.run(**read(state, target))
            return library.Score(**to_inspect(result))

        return score

    return library.scorer(metrics=chosen, name=scorer.id)(made)()


def _arguments(state: Any, target: Any) -> dict[str, Any]:
    return {
        "input": state.input_text,
        "output": state.output.completion,
        "ground_truth": target.text or None,
        "request_context": dict(state.metadata or {}),
    }


def _agent_arguments(state: Any, target: Any) -> dict[str, Any]:
    messages = [message.model_dump(exclude_none=True) for message in state.messages]
    given = 1 if isinstance(state.input, str) else len(state.input)
    systems = [m for m in messages if m["role"] == "system"]
    others = [m for m in messages if m["role"] != "system"]
    return {
        **_arguments(state, target),
        "input": [*systems, *others[:given]],
        "output": others[given:],
    }
