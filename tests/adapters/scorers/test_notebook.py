"""What cells show of scorers, scores, evaluations and scored traces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from classify import Boolean, Choice, Classifier
from classify.adapters.scorers import (
    ClassifierEvidence,
    EvalReport,
    Judge,
    LegacyScorer,
    ScorerResult,
    StepContext,
    WithThreshold,
    checks,
    create_classifier_scorer,
    create_scorer,
    not_scorable,
    run_evals_sync,
)
from classify.display.notebook import Shown
from classify.errors import InvalidInput
from classify.testing import ScriptedModel
from tests.hostile_texts import HOSTILE
from tests.notebook_cells import bundle, tree, words


def rubric_score(option: str = "partial") -> ScorerResult[object, str, None, ClassifierEvidence]:
    """Return the score of an answer that a classifier gave."""
    answer = {"type": "choice", "choice": option, "probabilities": {option: 0.75, "wrong": 0.25}}
    rubric = Classifier(
        "rubric",
        ScriptedModel(lambda _: {"correctness": answer}),
        {"correctness": Choice(criteria={option: None, "wrong": None})},
    )
    scorer = create_classifier_scorer(
        "correctness", rubric, "correctness", _output, scores={option: 0.5, "wrong": 0}
    )
    return scorer.run_sync(output="In Paris.", ground_truth="In Lyon.")


def _output(context: StepContext[object, str, None, None]) -> str:
    return context.run.output


def evaluated(items: int = 3) -> EvalReport:
    """Return an evaluation in which one target fails."""

    def target(question: str) -> str:
        if question.endswith(" 1"):
            raise TimeoutError("no answer <yet>")
        return "within 30 days"

    data = [{"id": f"item-{k}", "input": f"question {k}"} for k in range(items)]
    wanted = WithThreshold(checks.excludes("as an AI"), 0.8)
    return run_evals_sync(target, data, scorers=[wanted], gates=[checks.matches("30 days")])


def test_a_score_shows_the_answer_that_it_was_made_of() -> None:
    """Every option's probability, the rule, and what was judged."""
    seen = words(rubric_score())

    for text in (
        "correctness",
        "0.500",
        "partial",
        "75.0 %",
        "'selected'",
        "In Paris.",
        "In Lyon.",
    ):
        assert text in seen


def test_a_score_of_functions_shows_its_steps_results_and_reason() -> None:
    """As JSON, where they are no text."""
    scorer = (
        create_scorer("length", bounds=(0, 20), description="how long it is")
        .preprocess(lambda _: {"words": 2})
        .generate_score(lambda step: len(str(step.run.output)))
        .generate_reason(lambda step: f"scored {step.score}")
    )

    seen = words(scorer.run_sync(input=["a"], output="1234567890"))

    for text in ("0.500", "10", '"words": 2', "scored 0.5", "1234567890"):
        assert text in seen


def test_what_is_not_scorable_says_why() -> None:
    """And shows no number in its place."""
    scorer = create_scorer("empty").generate_score(lambda _: not_scorable("nothing was said"))

    seen = words(scorer.run_sync(output=""))

    assert "no score" in seen and "nothing was said" in seen and "0.000" not in seen


def test_a_scorer_shows_its_steps_and_not_its_judge() -> None:
    """A judge may hold a key."""
    judge = Judge(model="openai/gpt-4.1-mini", instructions="secret instructions")
    scorer = create_scorer(
        "tone", description="how warm it is", direction="lower", judge=judge
    ).generate_score(lambda _: 1.0)

    seen = words(scorer)

    for text in ("tone", "how warm it is", "lower", "0 to 1", "generate_score", "function"):
        assert text in seen
    assert "secret" not in seen


def test_a_legacy_result_shows_its_score() -> None:
    """With what its functions returned."""
    scorer = LegacyScorer("old", analyze=lambda _: {"score": 0.25, "results": {"seen": 3}})

    seen = words(scorer.run_sync(input="in", output="out"))

    assert "0.250" in seen and '"seen": 3' in seen


def test_a_report_shows_verdict_means_requirements_failures_and_items() -> None:
    """Each mean with its interval and its n; failures apart, and never as a score of 0."""
    report = evaluated()

    seen = words(report)

    for text in (
        *("failed", "failed targets", "failures in all", "excludes", "1.000", "2 of 3"),
        *(">= 0.8", ">= 1", "every score", "TimeoutError", "no answer <yet>", "item-2"),
    ):
        assert text in seen


@pytest.mark.parametrize("made", [rubric_score, evaluated])
def test_print_shows_the_card_and_not_every_field(made: Callable[[], Shown]) -> None:
    """A score's fields with its evidence, or a report's with its items, fill the screen."""
    found = made()

    assert bundle(found)["text/plain"] == str(found)
    assert 4 <= str(found).count("\n") < 60
    assert "run=ScorerRun(" not in str(found) and "items=(" not in str(found)
    assert repr(found).startswith(f"{type(found).__name__}(")


def test_a_report_of_many_items_is_cut_and_says_so() -> None:
    """The items that failed stay."""
    seen = words(evaluated(300))

    assert "more items" in seen and "item-1" in seen


def test_parts_of_a_report_can_be_looked_at_alone() -> None:
    """An item, a figure, a gate, a threshold."""
    report = evaluated()

    assert "no answer <yet>" in words(report.items[1])
    assert "within 30 days" in words(report.items[0])
    assert str(next(iter(report.scores.values()))) in words(next(iter(report.scores.values())))
    assert "no" in words(report.gates[0]) and "2 of 3" in words(report.thresholds[0])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_outputs_and_options_are_text(name: str) -> None:
    """They are what is judged."""
    text = HOSTILE[name].replace("\ufffe", "").replace("\uffff", "") + "x"
    scorer = create_scorer(text, description=text).generate_score(lambda _: 1.0)
    shown: list[Shown] = [scorer, scorer.run_sync(input=text, output=[text]), rubric_score(text)]

    for each in shown:
        assert not {"script", "img", "svg", "a", "h1"} & {tag.tag for tag in tree(each).iter()}


def test_an_output_that_is_no_json_is_shown_as_it_prints() -> None:
    """Scorers take values of every type, also one that holds itself."""
    itself: list[object] = []
    itself.append(itself)
    scorer = create_scorer("any").generate_score(lambda _: 1.0)

    assert "[[...]]" in words(scorer.run_sync(output=itself))
    assert "urgent" in words(scorer.run_sync(output={"q": Boolean(instructions="urgent")}))
    assert "wrong" in words(scorer.run_sync(output=InvalidInput("wrong")))
