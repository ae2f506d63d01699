"""Ready-made measures of answers, contexts and agents, each with a probability per item."""

from __future__ import annotations

from classify.adapters.scorers.measures.agents import tool_call_accuracy, trajectory_accuracy
from classify.adapters.scorers.measures.grounding import faithfulness, hallucination, summarization
from classify.adapters.scorers.measures.instructions import (
    multi_turn_judge,
    prompt_alignment,
    rubric,
)
from classify.adapters.scorers.measures.items import ItemAnswer, MeasureEvidence
from classify.adapters.scorers.measures.responses import (
    answer_relevancy,
    answer_similarity,
    completeness,
)
from classify.adapters.scorers.measures.retrieval import (
    context_precision,
    context_recall,
    context_relevance,
)
from classify.adapters.scorers.measures.robustness import noise_sensitivity
from classify.adapters.scorers.measures.safety import bias, toxicity
from classify.adapters.scorers.measures.sentences import sentences, shortened

__all__ = [
    "ItemAnswer",
    "MeasureEvidence",
    "answer_relevancy",
    "answer_similarity",
    "bias",
    "completeness",
    "context_precision",
    "context_recall",
    "context_relevance",
    "faithfulness",
    "hallucination",
    "multi_turn_judge",
    "noise_sensitivity",
    "prompt_alignment",
    "rubric",
    "sentences",
    "shortened",
    "summarization",
    "tool_call_accuracy",
    "toxicity",
    "trajectory_accuracy",
]
