"""A scorer as one of MLflow's: `mlflow.genai.evaluate(data, scorers=[mlflow_scorer(scorer)])`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from classify.adapters.frameworks.libraries import load
from classify.adapters.frameworks.result_facts import AnyResult
from classify.adapters.frameworks.shapes import to_mlflow
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.blocking import blocking
from classify.json_values import is_object


# Any: MLflow's types exist only where its library is installed.
def mlflow_feedback(result: AnyResult, *, name: str | None = None) -> Any:
    """Return a result as MLflow's Feedback; raises MissingExtra without mlflow."""
    entities = load("mlflow.entities", "mlflow")
    shape = to_mlflow(result, name=name)
    return entities.Feedback(**shape | {"source": entities.AssessmentSource(**shape["source"])})


def mlflow_scorer(
    scorer: ScorerLike, *, arguments: Callable[..., Mapping[str, Any]] | None = None
) -> Any:
    """Return an MLflow scorer that runs ours and gives a Feedback under its id.

    `arguments(inputs=, outputs=, expectations=, trace=)` gives the arguments of `scorer.run`;
    without it they are inputs, outputs, the expected response (or all expectations) as ground
    truth, and the expectations as request context. Raises MissingExtra without mlflow.
    """
    decorate = load("mlflow.genai.scorers", "mlflow").scorer
    read = arguments or _arguments
    run = blocking(scorer.run)

    # MLflow passes what the function's parameters name.
    def scored(
        inputs: Any = None, outputs: Any = None, expectations: Any = None, trace: Any = None
    ) -> Any:
        given = read(inputs=inputs, outputs=outputs, expectations=expectations, trace=trace)
        return mlflow_feedback(run(**given))

    return decorate(scored, name=scorer.id, description=scorer.description or None)


def _arguments(*, inputs: Any, outputs: Any, expectations: Any, trace: Any) -> dict[str, Any]:
    expected = {str(k): v for k, v in expectations.items()} if is_object(expectations) else {}
    return {
        "input": inputs,
        "output": outputs,
        "ground_truth": expected.get("expected_response", expectations),
        "request_context": expected or None,
    }
