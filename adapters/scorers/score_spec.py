"""Score specs: which scores a classifier's answers become, and what they must reach, in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from classify.adapters.scorers.classifier_scorer import create_classifier_scorer
from classify.adapters.scorers.eval_plan import Planned
from classify.adapters.scorers.projection import Projection, projection_of
from classify.adapters.scorers.result import Direction, StepContext
from classify.adapters.scorers.thresholds import Threshold
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Question
from classify.spec import Spec, parse_spec
from classify.spec_document import read_document
from classify.spec_schema import spec_schema
from classify.validation import Strict, unknown_name


class Limits(Strict):
    """A range; both ends belong to it."""

    min: float | None = Field(default=None, ge=0.0, le=1.0)
    max: float | None = Field(default=None, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _ends_are_in_order(self) -> Limits:
        if self.min is None and self.max is None:
            raise ValueError("must have min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min!r} is above max {self.max!r}")
        return self

    @property
    def threshold(self) -> Threshold:
        """The same for scorers."""
        return Threshold(self.min, self.max)


def _minimum(given: object, info: ValidationInfo) -> object:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return given
    if info.data.get("direction") == "lower":
        raise ValueError(f"less is better here, so say which side it is on: {{max: {given}}}")
    return {"min": given}


def _full_marks(given: object, info: ValidationInfo) -> object:
    if not isinstance(given, bool):
        return given
    best = {"max": 0.0} if info.data.get("direction") == "lower" else {"min": 1.0}
    return best if given else None


class ScorerSpec(Strict):
    """How the answers to one question become scores, and what those must reach."""

    question: str
    """The question's id."""
    scores: dict[str, float] | None = None
    """Option -> its score from 0 to 1; every option of a choice question."""
    correct: str | int | bool | list[str | int | bool] | None = None
    """In place of scores: the options whose probabilities add up to the score."""
    projection: Literal["expected"] | None = None
    """Expected: the sum of p * scores; where absent, the score of the chosen option."""
    direction: Direction = "higher"
    """Which end of the score is the good one."""
    threshold: Annotated[
        Limits | None, BeforeValidator(_minimum, json_schema_input_type=float | Limits | None)
    ] = None
    """What the average must reach: a minimum, or min and max."""
    gate: Annotated[
        Limits | None, BeforeValidator(_full_marks, json_schema_input_type=bool | Limits | None)
    ] = None
    """True: every row's score must be the best there is; or the range that each must lie in."""

    def projected(self, question: Question) -> Projection:
        """Return how an answer becomes a score; raises ScorerDefinitionError."""
        return projection_of(
            self.question,
            question,
            scores=self.scores,
            correct=self.correct,
            projection=self.projection,
        )

    def planned(self, id: str, classifier: str) -> Planned:
        """Return the scorer with its threshold."""
        scorer = create_classifier_scorer(
            id,
            classifier,
            self.question,
            _row,
            scores=self.scores,
            correct=self.correct,
            projection=self.projection,
            direction=self.direction,
        )
        limits = self.threshold
        return Planned(scorer, threshold=None if limits is None else limits.threshold)

    def gated(self, planned: Planned) -> Planned | None:
        """Return the scorer as a gate; None where it is none."""
        return None if self.gate is None else replace(planned, threshold=self.gate.threshold)


def _row(context: StepContext[JSON, JSON, None, None]) -> JSON:
    return context.run.input


class ScoreSpec(Spec):
    """A classifier's spec with scorers."""

    scorers: dict[str, ScorerSpec] = Field(min_length=1)
    """Scorer's id -> how an answer becomes its score."""

    @field_validator("scorers")
    @classmethod
    def _scorers_fit_their_questions(
        cls, scorers: dict[str, ScorerSpec], info: ValidationInfo
    ) -> dict[str, ScorerSpec]:
        questions = cast("Mapping[str, Question] | None", info.data.get("questions"))
        for name, scorer in scorers.items() if questions is not None else ():
            assert questions is not None
            if scorer.question not in questions:
                unknown = unknown_name("question", scorer.question, questions)
                raise ValueError(f"scorer {name!r}: {unknown}")
            try:
                scorer.projected(questions[scorer.question])
            except InvalidInput as error:
                raise ValueError(f"scorer {name!r}: {error}") from None
        return scorers

    def plan(self) -> tuple[dict[str, Planned], dict[str, Planned]]:
        """Return scorer's id -> scorer with its threshold, and the gates among them."""
        scorers = {name: each.planned(name, self.id) for name, each in self.scorers.items()}
        gates = {name: self.scorers[name].gated(planned) for name, planned in scorers.items()}
        return scorers, {name: gate for name, gate in gates.items() if gate is not None}


def load_score_spec(path: str | Path) -> ScoreSpec:
    """Read a score spec: a spec with scorers, or `classifier` (a spec file) and scorers.

    Raises InvalidInput, a line per problem: file, line, field, way out.
    """
    document = read_document(path)
    value = document.value
    if not isinstance(value, dict) or "classifier" not in value:
        return parse_spec(document, ScoreSpec)
    others = sorted(value.keys() - {"classifier", "scorers"})
    if others:
        line = document.line((others[0],))
        raise InvalidInput(
            f"{document.name}:{line}: {others[0]}: stands in the classifier's own file; "
            f"leave it out here, or leave classifier out"
        )
    named = value["classifier"]
    if not isinstance(named, str) or not named:
        line = document.line(("classifier",))
        raise InvalidInput(
            f"{document.name}:{line}: classifier: must be the path of a spec file, got {named!r}"
        )
    classifier = read_document(Path(path).parent / named)
    parse_spec(classifier, Spec)
    fields = {name: given for name, given in value.items() if name != "classifier"}
    assert isinstance(classifier.value, dict)  # as the spec was read from it
    return parse_spec(replace(document, value={**classifier.value, **fields}), ScoreSpec)


def score_spec_schema() -> dict[str, JSON]:
    """Return the JSON Schema (draft 2020-12) of score specs."""
    schema = spec_schema(ScoreSpec)
    properties = cast("dict[str, JSON]", schema["properties"])
    required = cast("list[JSON]", schema["required"])
    properties["classifier"] = {
        "type": "string",
        "description": "A classifier's spec file, from this file's folder, in place of id, "
        "model, questions and the rest.",
    }
    schema["required"] = ["scorers"]
    inline: list[JSON] = [name for name in required if name != "scorers"]
    schema["oneOf"] = [{"required": ["classifier"]}, {"required": inline}]
    return schema
