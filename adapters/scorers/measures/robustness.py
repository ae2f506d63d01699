"""Does the answer stay good when the question is noisy: noise sensitivity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.inputs import Splitter, input_text, output_text, split
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.sentences import sentences
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.adapters.scorers.result import NotScorable
from classify.questions import Boolean, Choice, Question, Score

_RESPECTS: Mapping[str, str] = {
    "accuracy": "the facts it states",
    "relevance": "how far it keeps to the original question",
    "completeness": "how much of the answer it still gives",
    "consistency": "its reasoning and its agreement with itself",
}


def _impact(respect: str) -> Question:
    return Choice(
        instructions=f"How much did the noise change the noisy answer in {respect}?",
        criteria={
            "none": "not at all",
            "minimal": "hardly, the answer is as good",
            "moderate": "noticeably, the answer is somewhat worse",
            "significant": "much, the answer is clearly worse",
            "severe": "the answer is no longer one",
        },
        cue="The impact of the noise on the noisy answer is",
    )


ROBUST = Score(
    instructions="Does the noisy answer answer the question as well as the baseline answer does?",
    criteria=["no, the noise spoiled it", "in part", "yes, the noise did not matter"],
    cue="Compared with the baseline answer, the noisy answer is",
    words=[["worse", "bad"], ["weaker", "fair"], ["equal", "good"]],
)
DISTRACTED = Boolean(
    instructions="Does the statement come from the noise and not from the original question?",
    criteria={
        "true": "it deals with what was added as noise",
        "false": "it answers the original question",
    },
    cue="For the original question, the statement is",
    words={"true": ["irrelevant", "wrong"], "false": ["relevant", "right"]},
)


def noise_sensitivity(
    judge: Judging = None,
    *,
    baseline_response: str,
    noisy_query: str,
    statements: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return how well an answer to a noisy question holds up; higher is better.

    The run's input is the original question, its output the answer to `noisy_query`;
    `baseline_response` answered the original. The noise's impact is judged in four respects, the
    robustness as a whole, and every statement that follows the noise is an issue.
    """

    async def plan(run: AnyRun) -> Plan:
        output = output_text(run)
        if not output.strip():
            return Plan(nothing=NotScorable("there is no output"))
        state = {
            "question": input_text(run),
            "noisy_question": noisy_query,
            "baseline_answer": baseline_response,
            "noisy_answer": output,
        }
        about = ["robust", *(f"impact_{respect}" for respect in _RESPECTS)]
        whole = (Item(question=q, text=output, state=state, long="noisy_answer") for q in about)
        found = await split(output, statements)
        return Plan(items=(*whole, *(_statement(text, state) for text in found)))

    return Measure(
        name="noise-sensitivity",
        description="How well the answer withstands distraction in the question.",
        formula=(
            "robustness, or the mean impact credit if lower by more than .2, - min(.1 x issues, .3)"
        ),
        questions={
            "robust": ROBUST,
            **{f"impact_{name}": _impact(respect) for name, respect in _RESPECTS.items()},
            "distracted": DISTRACTED,
        },
        plan=plan,
        compute=_noise,
    ).scorer(judge, settings)


def _noise(verdicts: Verdicts) -> float:
    impacts = [
        arithmetic.share(verdicts.credits(f"impact_{respect}", arithmetic.IMPACT_CREDIT))
        for respect in _RESPECTS
    ]
    return arithmetic.noise_sensitivity(
        arithmetic.share(verdicts.levels("robust")),
        impacts,
        issues=verdicts.total("distracted", "true"),
    )


def _statement(text: str, state: Mapping[str, str]) -> Item:
    known = {name: state[name] for name in ("question", "noisy_question")}
    return Item(question="distracted", text=text, state={**known, "statement": text})
