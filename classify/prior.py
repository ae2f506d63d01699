"""Divide out how popular the labels are on their own.

Two estimates of that prior: the mean distribution over a batch of states (Batch Calibration, Zhou
et al. 2023), or over states without content (Zhao et al. 2021). Both assume that the options are
about as frequent as one another among the states; on a batch that is not so, they mislead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.errors import ClassifyError, InvalidInput
from classify.evaluation import Evaluation
from classify.evidence import Evidence
from classify.json_values import JSON
from classify.labels import canonical
from classify.logprob_model import answer_fields
from classify.logspace import Floats, log_normalize, safe_log
from classify.questions import Choice, Question, Score

FEWEST = 32
BLANKS = ("", "N/A", "[MASK]", "...")


class TooFewForPrior(InvalidInput):
    """A batch too small to know how popular the labels are."""

    def __init__(self, message: str, outcomes: Sequence[Evaluation | ClassifyError] = ()) -> None:
        """Keep the uncorrected outcomes: nothing that was computed is lost."""
        super().__init__(message)
        self.outcomes = tuple(outcomes)


def check_batch_size(states: int) -> None:
    """Raise TooFewForPrior where a batch prior cannot be taken from so few states."""
    if states < FEWEST:
        raise TooFewForPrior(
            f'prior="batch" needs at least {FEWEST} states, got {states}: give more, or no prior'
        )


def batch_corrected(
    outcomes: Sequence[Evaluation | ClassifyError], questions: Mapping[str, Question]
) -> list[Evaluation | ClassifyError]:
    """Divide each question's answers by their mean over the batch.

    Answers that were corrected before are corrected again from their raw probabilities, those that
    a policy then handed over too: they are answers again. Failures and other no-verdicts stay as
    they are. Raises InvalidInput where a question has fewer than 32 answers with a distribution.
    """
    evaluations = [outcome for outcome in outcomes if isinstance(outcome, Evaluation)]
    corrected: list[dict[str, Answer | NoVerdict]] = [dict(e.answers) for e in evaluations]
    for name, question in questions.items():
        rows = [
            (row, raw)
            for row, evaluation in enumerate(evaluations)
            if (raw := raw_distribution(evaluation.answers[name], question)) is not None
        ]
        if len(rows) < FEWEST:
            raise TooFewForPrior(
                f'prior="batch" needs at least {FEWEST} answers with a distribution, question '
                f"{name!r} has {len(rows)}: give more states, or no prior",
                outcomes,
            )
        p = np.array([raw for _, raw in rows])
        prior = p.mean(axis=0)
        for (row, _), share in zip(rows, divided(p, prior), strict=True):
            answer = _answer(corrected[row][name], question)
            corrected[row][name] = with_prior(answer, question, share, prior, method="batch")
    answered = iter(
        evaluation.model_copy(update={"answers": answers})
        for evaluation, answers in zip(evaluations, corrected, strict=True)
    )
    return [next(answered) if isinstance(o, Evaluation) else o for o in outcomes]


def corrected_alone(
    answers: Mapping[str, Answer | NoVerdict], questions: Mapping[str, Question]
) -> dict[str, Answer | NoVerdict]:
    """Return answers as a batch of them alone would leave them: all options alike."""
    corrected = dict(answers)
    for name, question in questions.items():
        raw = raw_distribution(answers[name], question)
        if raw is not None:
            prior = np.array(raw)
            share = divided(prior[None, :], prior)[0]
            answer = _answer(answers[name], question)
            corrected[name] = with_prior(answer, question, share, prior, method="batch")
    return corrected


def divided(p: Floats, prior: Floats) -> Floats:
    """Return p / prior, normalised; p is (n, K) and prior (K,)."""
    impossible = prior <= 0.0
    log_prior = np.where(impossible, 0.0, safe_log(np.where(impossible, 1.0, prior)))
    result: Floats = np.exp(log_normalize(safe_log(p) - log_prior))
    return result


def raw_distribution(answer: Answer | NoVerdict, question: Question) -> list[float] | None:
    """Return an answer's uncorrected probabilities in canonical order, None where it has none.

    A no-verdict has them only where a policy handed over an answer of a corrected batch.
    """
    if isinstance(answer, NoVerdict) and not _handed_over(answer):
        return None
    p = answer.raw_probabilities or answer.probabilities
    return None if p is None else [p[option] for option in canonical(question)]


def _handed_over(answer: NoVerdict) -> bool:
    """Whether a policy handed over what was an answer with a batch prior divided out.

    A model's own no-verdict has no such evidence, whatever its cause.
    """
    corrected = answer.evidence is not None and answer.evidence.prior_method == "batch"
    return answer.cause == "uncertain" and corrected


def _answer(answer: Answer | NoVerdict, question: Question) -> Answer:
    """Return the answer that was handed over, as it was read; any other as it is."""
    if not isinstance(answer, NoVerdict):
        return answer
    fields = {
        **answer_fields(question, np.array(raw_distribution(answer, question)), None),
        "label_mass": answer.label_mass,
        "method": answer.method,
        "raw_probabilities": answer.raw_probabilities,
        "evidence": answer.evidence,
    }
    if isinstance(question, Choice):
        return ChoiceAnswer.model_validate(fields)
    kind = ScoreAnswer if isinstance(question, Score) else BooleanAnswer
    return kind.model_validate(fields)


def with_prior(
    answer: Answer, question: Question, p: Floats, prior: Floats, *, method: str
) -> Answer:
    """Return an answer with corrected probabilities; the raw ones and the prior are kept."""
    fields = answer_fields(question, p, None)
    names = canonical(question)
    evidence = answer.evidence or Evidence()
    changed = {
        **{key: value for key, value in fields.items() if key != "type"},
        # Bounds are statements about the raw probabilities.
        "bounds": None,
        "raw_probabilities": answer.raw_probabilities or dict(answer.probabilities or {}),
        "evidence": evidence.model_copy(
            update={"prior": dict(zip(names, prior.tolist(), strict=True)), "prior_method": method}
        ),
    }
    if isinstance(answer, ScoreAnswer):
        changed["score_range"] = None
    return answer.model_copy(update=changed)


def blanked(state: JSON, blank: str) -> JSON:
    """Return the state with every value replaced, its shape and field names kept."""
    if isinstance(state, Mapping):
        return {key: blanked(value, blank) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [blanked(value, blank) for value in state]
    return None if state is None else blank
