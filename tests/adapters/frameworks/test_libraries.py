"""Our scorers as scorers of the real libraries; a library that is not installed is skipped."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from classify.adapters.frameworks import (
    deepeval_metric,
    inspect_scorer,
    mlflow_feedback,
    mlflow_scorer,
    pydantic_evaluator,
)
from classify.adapters.scorers import Scorer, StepContext, create_scorer, not_scorable
from classify.adapters.scorers.measures import faithfulness
from classify.decision import DecisionRequest
from classify.errors import InvalidInput, MissingExtra
from classify.testing import ScriptedModel

Context = StepContext[Any, Any, Any, Any]

# The libraries warn about their own dependencies as they are imported.
pytestmark = pytest.mark.filterwarnings("ignore")


def library(name: str) -> Any:
    """Return a module, or skip the test where its library is not installed."""
    if find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"{name.partition('.')[0]} is not installed")
    return importlib.import_module(name)


def length(*, lower: bool = False) -> Scorer[Any, Any, Any, Any]:
    """Return a scorer of the output's length in tens; "none" is not scorable."""

    def score(context: Context) -> Any:
        text = str(context.run.output)
        return not_scorable("no text") if text == "none" else len(text) / 10

    def reason(context: Context) -> str:
        return f"{context.run.input} -> {context.run.output}, wanted {context.run.ground_truth}"

    built = create_scorer("length", direction="lower" if lower else "higher")
    return built.generate_score(score).generate_reason(reason)


def test_an_inspect_evaluation_takes_the_scorer(tmp_path: Path) -> None:
    """Scores, reasons and metrics stand in Inspect's own log; no score is left out and counted."""
    inspect_ai, dataset = library("inspect_ai"), library("inspect_ai.dataset")
    model_output = library("inspect_ai.model").ModelOutput

    @library("inspect_ai.solver").solver  # type: ignore[untyped-decorator]
    def echo() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = model_output.from_content("echo", state.input_text)
            return state

        return solve

    samples = [dataset.Sample(input=text, target="t") for text in ("hello", "none")]
    task = inspect_ai.Task(dataset=samples, solver=echo(), scorer=inspect_scorer(length()))

    log = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")[0]

    assert log.status == "success"
    found = log.results.scores[0]
    assert (found.name, found.scored_samples, found.unscored_samples) == ("length", 1, 1)
    assert found.metrics["mean"].value == 0.5
    scores = [sample.scores["length"] for sample in log.samples]
    assert scores[0].explanation == "hello -> hello, wanted t"
    assert (scores[1].reason, scores[1].explanation) == (
        "scoring_failed",
        "not scorable: no text",
    )


def test_an_inspect_scorer_of_agents_gets_messages(tmp_path: Path) -> None:
    """What was given and what was answered come apart, tool calls included."""
    inspect_ai, dataset = library("inspect_ai"), library("inspect_ai.dataset")
    message = library("inspect_ai.model").ChatMessageAssistant
    seen = list[Any]()

    @library("inspect_ai.solver").solver  # type: ignore[untyped-decorator]
    def answer() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.messages.append(message(content="done"))
            return state

        return solve

    def score(context: Context) -> float:
        seen.append((context.run.input, context.run.output))
        return 1.0

    agent = create_scorer("agent", type="agent").generate_score(score)
    task = inspect_ai.Task(
        dataset=[dataset.Sample(input="do it")], solver=answer(), scorer=inspect_scorer(agent)
    )

    log = inspect_ai.eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")[0]

    assert log.status == "success"
    [(given, output)] = seen
    assert [(m.role, m.text) for m in given.input_messages] == [("user", "do it")]
    assert [(m.role, m.text) for m in output] == [("assistant", "done")]


def test_a_pydantic_dataset_takes_the_evaluator() -> None:
    """Scores stand under the scorer's id; what has none is a label and enters no mean."""
    library_ = library("pydantic_evals")
    cases = [
        library_.Case(name="long", inputs="hello", expected_output="t"),
        library_.Case(name="nothing", inputs="none"),
    ]
    dataset = library_.Dataset(name="d", cases=cases, evaluators=[pydantic_evaluator(length())])

    report = dataset.evaluate_sync(str, progress=False)

    long, nothing = report.cases
    assert (long.scores["length"].value, long.scores["length"].reason) == (
        0.5,
        "hello -> hello, wanted t",
    )
    assert nothing.scores == {}
    assert nothing.labels["length"].value == "not_scorable"
    assert report.averages().scores == {"length": 0.5}


def test_a_failed_run_is_the_pydantic_evaluators_failure() -> None:
    """A crash is reported as one, and the other cases go on."""
    library_ = library("pydantic_evals")
    broken = create_scorer("broken").generate_score(lambda context: float(context.run.output))
    cases = [library_.Case(name="a", inputs="word"), library_.Case(name="b", inputs="1")]
    dataset = library_.Dataset(name="d", cases=cases, evaluators=[pydantic_evaluator(broken)])

    report = dataset.evaluate_sync(str, progress=False)

    assert [len(case.evaluator_failures) for case in report.cases] == [1, 0]
    assert "generate_score" in report.cases[0].evaluator_failures[0].error_message


@pytest.fixture
def deepeval(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return DeepEval, kept from phoning home and from writing into the checkout."""
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    monkeypatch.chdir(tmp_path)
    return library("deepeval")


@pytest.mark.parametrize(
    ("lower", "threshold", "success"),
    [
        pytest.param(False, 0.5, True, id="higher, at the threshold"),
        pytest.param(False, 0.6, False, id="higher, below it"),
        pytest.param(True, 0.5, True, id="lower, at the threshold"),
        pytest.param(True, 0.4, False, id="lower, above it"),
    ],
)
def test_a_deepeval_metric_measures(
    deepeval: Any, lower: bool, threshold: float, success: bool
) -> None:
    """The direction decides which side of the threshold succeeds."""
    case = library("deepeval.test_case").LLMTestCase(
        input="say", actual_output="hello", expected_output="hi"
    )
    metric = deepeval_metric(length(lower=lower), threshold=threshold)

    assert metric.measure(case) == 0.5

    assert (metric.success, metric.is_successful()) == (success, success)
    assert isinstance(metric, library("deepeval.metrics").BaseMetric)
    assert metric.reason == "say -> hello, wanted hi"


@pytest.mark.parametrize(
    ("output", "score", "error"),
    [
        pytest.param("hello", 0.5, None, id="scored"),
        pytest.param("none", None, "not scorable: no text", id="not scorable"),
    ],
)
def test_a_deepeval_evaluation_takes_the_metric(
    deepeval: Any, output: str, score: float | None, error: str | None
) -> None:
    """DeepEval copies the metric for each case; no score is an error and never a success."""
    case = library("deepeval.test_case").LLMTestCase(input="say", actual_output=output)
    display = library("deepeval.evaluate.configs").DisplayConfig(
        show_indicator=False, print_results=False
    )

    found = deepeval.evaluate([case], [deepeval_metric(length())], display_config=display)

    [data] = found.test_results[0].metrics_data
    assert (data.name, data.score, data.error) == ("length", score, error)
    assert data.success is (score is not None)


def test_a_deepeval_cases_context_reaches_the_scorer(deepeval: Any) -> None:
    """Where our measures look for it, whatever DeepEval keeps it in."""
    cases = library("deepeval.test_case")
    retrieved = cases.RetrievedContextData(context="It is blue.", source="sky.txt")
    case = cases.LLMTestCase(
        input="?", actual_output="It is blue.", retrieval_context=["Yes.", retrieved]
    )
    seen = list[object]()

    def answer(request: DecisionRequest) -> dict[str, dict[str, object]]:
        seen.append(request.state)
        return {"supported": {"type": "boolean", "probability": 0.9}}

    assert deepeval_metric(faithfulness(ScriptedModel(answer))).measure(case) == 0.9

    assert seen == [{"context": "Yes.\n\nsky.txt: It is blue.", "claim": "It is blue."}]


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return MLflow, kept from phoning home and writing into the checkout."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.chdir(tmp_path)
    return library("mlflow")


def test_an_mlflow_scorer_gives_feedback(mlflow: Any) -> None:
    """The score is the value and the reason the rationale; no score is an error."""
    scorer = mlflow_scorer(length())

    good = scorer(inputs={"q": 1}, outputs="hello", expectations={"expected_response": "t"})
    none = scorer(inputs={"q": 1}, outputs="none")

    assert isinstance(scorer, library("mlflow.genai.scorers").Scorer)
    assert (good.name, good.value, good.source.source_type) == ("length", 0.5, "CODE")
    assert good.rationale == "{'q': 1} -> hello, wanted t"
    assert (none.value, none.error.error_message) == (None, "not scorable: no text")


def test_an_mlflow_evaluation_takes_the_scorer(mlflow: Any, tmp_path: Path) -> None:
    """The mean is over the rows that have a score."""
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    rows = [{"inputs": {"q": "1"}, "outputs": text} for text in ("hello", "none")]

    found = mlflow.genai.evaluate(data=rows, scorers=[mlflow_scorer(length())])

    assert found.metrics["length/mean"] == 0.5


@pytest.mark.parametrize(
    ("make", "name", "extra"),
    [
        pytest.param(inspect_scorer, "inspect_ai", "inspect", id="inspect"),
        pytest.param(deepeval_metric, "deepeval", "deepeval", id="deepeval"),
        pytest.param(pydantic_evaluator, "pydantic_evals", "pydantic-evals", id="pydantic-evals"),
        pytest.param(mlflow_scorer, "mlflow", "mlflow", id="mlflow"),
    ],
)
def test_a_missing_library_names_its_extra(make: Callable[..., Any], name: str, extra: str) -> None:
    """Whoever lacks it learns what to install."""
    if find_spec(name) is not None:
        pytest.skip(f"{name} is installed")

    with pytest.raises(MissingExtra, match=rf"classify-kit\[{extra}\]"):
        make(length())


def test_a_result_needs_mlflow_to_be_its_feedback() -> None:
    """The plain dict needs nothing, the library's object the library."""
    if find_spec("mlflow") is not None:
        pytest.skip("mlflow is installed")

    with pytest.raises(MissingExtra, match="mlflow"):
        mlflow_feedback(length().run_sync(output="hello"))


def test_a_threshold_outside_the_scores_is_refused() -> None:
    """It could never fail, or never pass."""
    with pytest.raises(InvalidInput, match=r"threshold must be from 0 to 1, got 7"):
        deepeval_metric(length(), threshold=7)
