"""Stored answers get other scores, and no model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.reprojection import RowScore, reproject
from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.errors import InvalidInput
from classify.questions import Choice, Score
from classify.results import Result, RowError, result_line

LIKELY = ChoiceAnswer(choice="good", probabilities={"good": 0.7, "bad": 0.3})
SURE = ChoiceAnswer(choice="bad", probabilities={"good": 0.0, "bad": 1.0})
NONE = NoVerdict(kind="choice", cause="no_label", message="no label seen")
SCORES = {"good": 0.8, "bad": 0.2}


def row(answer: AnyAnswer, *, id: str = "r", index: int = 0) -> Result:
    """Return a stored result of one answer to q."""
    return Result(id=id, index=index, key=id, answers={"q": answer})


def test_a_results_file_gets_other_scores_in_order(tmp_path: Path) -> None:
    """Failed rows and no-verdicts are told apart, and neither is a zero."""
    failed = Result(id="c", index=2, key="c", error=RowError(type="ProviderError", message="busy"))
    rows = [row(LIKELY, id="a"), row(NONE, id="b", index=1), failed, row(SURE, id="d", index=3)]
    path = tmp_path / "results.jsonl"
    path.write_bytes(b"".join(map(result_line, rows)))
    assert list(reproject(path, "q", scores=SCORES)) == [
        RowScore(id="a", index=0, score=0.8),
        RowScore(id="b", index=1, not_scorable="no_label: no label seen"),
        RowScore(id="c", index=2, error="busy"),
        RowScore(id="d", index=3, score=0.2),
    ]
    expected = [r.score for r in reproject(path, "q", scores=SCORES, projection="expected")]
    assert expected == pytest.approx([0.62, None, None, 0.2])


@pytest.mark.parametrize(
    ("answer", "correct", "score"),
    [
        pytest.param(LIKELY, "good", 0.7, id="choice"),
        pytest.param(
            ScoreAnswer(score=1.3, probabilities={"0": 0.2, "1": 0.3, "2": 0.5}), 2, 0.5, id="level"
        ),
        pytest.param(BooleanAnswer(probability=0.25), False, 0.75, id="boolean"),
    ],
)
def test_options_are_taken_from_the_stored_distribution(
    answer: AnyAnswer, correct: str | int, score: float
) -> None:
    """A results file is enough; nobody has to find the questions again."""
    assert [r.score for r in reproject([row(answer)], "q", correct=correct)] == [score]


def test_levels_and_booleans_need_no_settings() -> None:
    """Their answers are numbers already."""
    level = ScoreAnswer(score=1.5, probabilities={"0": 0.25, "1": 0.0, "2": 0.75})
    assert [r.score for r in reproject([row(level)], "q")] == [0.75]
    assert [r.score for r in reproject([row(BooleanAnswer(probability=0.1))], "q")] == [0.1]


def test_without_probabilities_the_question_must_be_given() -> None:
    """The levels of a bare 1.5 could be three or ten."""
    bare = row(ScoreAnswer(score=1.5))
    with pytest.raises(ScorerDefinitionError, match="give the question, asked="):
        list(reproject([bare], "q"))
    question = Score(criteria=["low", "middle", "high"])
    assert [r.score for r in reproject([bare], "q", asked=question)] == [0.75]


def test_results_of_another_question_are_refused() -> None:
    """A score of an option that the question does not have would be a guess."""
    other = Choice(criteria={"fine": None, "poor": None})
    with pytest.raises(InvalidInput, match=r"row 'r'.*results of another question"):
        list(reproject([row(LIKELY)], "q", correct="fine", asked=other))
    with pytest.raises(InvalidInput, match="row 'r': unknown question 'p'"):
        list(reproject([row(LIKELY)], "p", correct="fine"))
    level = ScoreAnswer(score=1.0, probabilities={"0": 0.0, "1": 1.0})
    mixed = [row(LIKELY), row(level, id="s", index=1)]
    with pytest.raises(InvalidInput, match=r"row 's'.*is a score of the options"):
        list(reproject(mixed, "q", scores=SCORES))


def test_scores_must_fit_the_stored_options() -> None:
    """The same exact rules as for a scorer."""
    with pytest.raises(ScorerDefinitionError, match="Missing: bad"):
        list(reproject([row(LIKELY)], "q", scores={"good": 1}))
