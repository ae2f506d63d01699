"""type="agent": the steps get an agent's messages, in whatever shape the run came."""

from __future__ import annotations

import pytest

from classify.adapters.scorers import create_scorer, run_evals_sync


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        pytest.param("question", "hi", id="texts"),
        pytest.param(
            [{"role": "user", "content": "question"}],
            [{"role": "assistant", "content": "hi"}],
            id="chat-messages",
        ),
        pytest.param(
            {"inputMessages": [{"role": "user", "content": "question"}]},
            [
                {
                    "role": "assistant",
                    "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]},
                }
            ],
            id="the-reference's-messages",
        ),
    ],
)
def test_an_agent_scorer_is_given_messages(given: object, answer: object) -> None:
    """The types that checkers promise hold at run time, outside of traces too."""
    scorer = create_scorer("said-hi", type="agent").generate_score(
        lambda c: float(
            (c.run.input.input_messages[0].text, c.run.output[0].text) == ("question", "hi")
        )
    )

    def target(_: object) -> object:
        return answer

    report = run_evals_sync(target, [{"input": given}], [scorer])

    assert report.scores["said-hi"].mean == 1.0
