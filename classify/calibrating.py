"""Put calibrators and abstention policies behind a classifier's answers.

They are objects from outside, such as `classify.calibration` makes; the core only says what it
needs of them. Raw probabilities are kept beside the calibrated ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classify.answers import Answer, NoVerdict, ScoreAnswer
from classify.errors import CalibrationError, InvalidInput
from classify.evidence import Evidence
from classify.labels import canonical
from classify.logprob_model import answer_fields
from classify.logspace import Floats, log_normalize, safe_log
from classify.options import Options
from classify.prompts import TEMPLATE
from classify.questions import Question
from classify.validation import unknown_name
from classify.version import __version__

Answers: TypeAlias = dict[str, Answer | NoVerdict]

_ROUNDOFF = 1e-9


@dataclass(frozen=True, slots=True)
class Origin:
    """How an answer was made: what a calibrator that was fitted on such answers must match."""

    question: str
    """The question as canonical JSON."""
    options: tuple[str, ...]
    """In canonical order, which is the order of the log-probabilities."""
    model: str
    """The name that answered."""
    readout: str
    """How it was read, and the prior that was divided out."""
    orders: int
    """The listings that were asked for."""
    prompt_template: str
    """The version of the prompts, and all else that they are made of besides the state."""
    library: str
    """The version of this package."""


class AnswerCalibrator(Protocol):
    """What calibrates the answers to one question."""

    def calibrated(self, log_p: Floats, origin: Origin) -> tuple[Floats, str]:
        """Return calibrated log-probabilities (K,) and the calibrator's fingerprint.

        Raises CalibrationError for answers made otherwise than those it was fitted on.
        """
        ...


class AnswerPolicy(Protocol):
    """What says whether an answer stands without a person.

    One that has a `fingerprint` holds only behind the calibrator with that `digest`, one that has
    `check_options` is asked at once whether it fits the number of options.
    """

    @property
    def guarantee(self) -> str:
        """What is promised about the answers that stand, in a sentence."""
        ...

    def options(self, log_p: Floats) -> NDArray[np.int64]:
        """Return the option to take for every row (n,) of log-probabilities (n, K).

        Below 0 to hand over. An answer stands where that is the option it names.
        """
        ...


@dataclass(frozen=True, slots=True)
class AfterReading:
    """What happens to a classifier's answers once they are checked."""

    model: str
    """Its name, for answers whose evidence names none."""
    options: Options
    calibrators: Mapping[str, AnswerCalibrator]
    policies: Mapping[str, AnswerPolicy]

    def __post_init__(self) -> None:
        """Raise InvalidInput for a calibrator without its artefact, and for what is no policy.

        Also for a policy whose promise was made behind another calibrator than it would have here.
        """
        for name, calibrator in self.calibrators.items():
            if not callable(getattr(calibrator, "calibrated", None)):
                raise InvalidInput(
                    f"calibrators[{name!r}] is of type {type(calibrator).__name__}, which does not "
                    "know whose answers it holds for: give its artefact, as load_artefacts and "
                    "make_artefact of classify.calibration return it"
                )
        for name, policy in self.policies.items():
            if not callable(getattr(policy, "options", None)):
                raise InvalidInput(
                    f"policies[{name!r}] is of type {type(policy).__name__}, which decides nothing:"
                    " give a policy, such as ConfidencePolicy.from_risk(risk)"
                )
            self._check_promise(name, policy)

    def _check_promise(self, name: str, policy: AnswerPolicy) -> None:
        promised = getattr(policy, "fingerprint", None)
        calibrator = self.calibrators.get(name)
        digest = getattr(calibrator, "digest", None)
        if promised is None or promised == digest:
            return
        given = "no calibrator" if calibrator is None else f"the calibrator {digest!r}"
        raise InvalidInput(
            f"policies[{name!r}] was fitted behind the calibrator {promised!r}, and question "
            f"{name!r} has {given} here: what the policy promises holds only behind its own. Give "
            f"its own in calibrators[{name!r}], or fit a policy with artefact.policy(alpha=...)"
        )

    def check_names(self, questions: Mapping[str, Question]) -> None:
        """Raise InvalidInput where a calibrator or policy is for no question or another kind."""
        for name in (*self.calibrators, *self.policies):
            if name not in questions:
                raise InvalidInput(unknown_name("question", name, questions))
        for name, policy in self.policies.items():
            check = getattr(policy, "check_options", None)
            try:
                if callable(check):
                    check(len(canonical(questions[name])))
            except CalibrationError as error:
                raise InvalidInput(
                    f"policies[{name!r}] does not fit its question: {error}"
                ) from error

    def facts(self) -> dict[str, dict[str, str]]:
        """Return what identifies the calibrators and the policies.

        Raises InvalidInput for one without a text of its own.
        """
        given = {"calibrators": self.calibrators, "policies": self.policies}
        return {
            what: {name: _text(each, f"{what}[{name!r}]") for name, each in some.items()}
            for what, some in given.items()
        }

    def applied(
        self, answers: Mapping[str, Answer | NoVerdict], questions: Mapping[str, Question]
    ) -> Answers:
        """Return the answers calibrated, and those that a policy hands over as no-verdicts."""
        return {name: self._one(name, questions[name], answer) for name, answer in answers.items()}

    def _one(self, name: str, question: Question, answer: Answer | NoVerdict) -> Answer | NoVerdict:
        if isinstance(answer, NoVerdict):
            return answer
        if answer.probabilities is not None and name in self.calibrators:
            made = origin(question, answer, name, model=self.model, orders=self.options.orders)
            log_p, digest = self.calibrators[name].calibrated(log_distribution(answer), made)
            answer = _calibrated(answer, question, np.exp(log_p), digest)
        if name in self.policies:
            return _unless_handed_over(answer, question, self.policies[name])
        return answer


def _text(given: object, where: str) -> str:
    kind = type(given)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise InvalidInput(
            f"{where} cannot be told from others of its type: give {kind.__qualname__} a "
            "`__repr__` that shows all that it holds"
        )
    return str(given)


def origin(question: Question, answer: Answer, name: str, *, model: str, orders: int) -> Origin:
    """Return how an answer was made; `model` is used where the evidence names none."""
    evidence = answer.evidence or Evidence()
    reasons = "+reasons" if evidence.reason is not None else ""
    prior = f"+{evidence.prior_method}" if evidence.prior_method else ""
    return Origin(
        question=json.dumps(question.model_dump(mode="json"), sort_keys=True),
        options=canonical(question),
        model=evidence.reported_model or model,
        readout=(evidence.readout or answer.method) + reasons + prior,
        orders=orders,
        prompt_template=_prompt_parts(question, evidence, name),
        library=__version__,
    )


def _prompt_parts(question: Question, evidence: Evidence, name: str) -> str:
    parts = [evidence.template or TEMPLATE]
    if evidence.prompt_form is not None:
        parts.append(evidence.prompt_form)
    if evidence.state_name is not None:
        parts.append(f"state called {evidence.state_name!r}")
    if evidence.length_rule is not None:
        parts.append(f"{evidence.length_rule} of tokens")
    # The id is asked where the question has no text of its own.
    if (question.cue if evidence.readout == "words" else question.instructions) is None:
        parts.append(f"question called {name!r}")
    return ", ".join(parts)


def log_distribution(answer: Answer) -> Floats:
    """Return an answer's log-probabilities (K,) in canonical order; it must have some."""
    p = answer.probabilities or {}
    names = p if answer.type == "boolean" else sorted(p)
    if isinstance(answer, ScoreAnswer):
        names = sorted(p, key=int)  # a file's fields may have been sorted as text, "10" before "2"
    return safe_log(np.array([p[name] for name in names]))


def _calibrated(answer: Answer, question: Question, p: Floats, digest: str) -> Answer:
    fields = answer_fields(question, p, None)
    evidence = answer.evidence or Evidence()
    return answer.model_copy(
        update={
            **{key: value for key, value in fields.items() if key != "type"},
            # Bounds are statements about the raw probabilities.
            "bounds": None,
            **({"score_range": None} if isinstance(answer, ScoreAnswer) else {}),
            "raw_probabilities": answer.raw_probabilities or dict(answer.probabilities or {}),
            "evidence": evidence.model_copy(update={"calibrator": digest}),
        }
    )


def _unless_handed_over(
    answer: Answer, question: Question, policy: AnswerPolicy
) -> Answer | NoVerdict:
    because = _why_handed_over(answer, canonical(question), policy)
    if because is None:
        return answer
    return NoVerdict(
        kind=question.type,
        cause="uncertain",
        message=f"handed over to a person: {because}{policy.guarantee}",
        label_mass=answer.label_mass,
        method=answer.method,
        probabilities=None if answer.probabilities is None else dict(answer.probabilities),
        raw_probabilities=answer.raw_probabilities,
        evidence=answer.evidence,
    )


def _why_handed_over(answer: Answer, names: Sequence[str], policy: AnswerPolicy) -> str | None:
    """Return why an answer does not stand, which its guarantee may say already; None if it does."""
    if answer.probabilities is None:
        return "the model gave no probabilities, and the policy decides by them; "
    log_p = log_distribution(answer)
    taken = int(policy.options(log_p[None, :])[0])
    likeliest = names.index(answer.choice) if answer.type == "choice" else int(log_p.argmax())
    if taken == likeliest:
        return None
    if taken < 0:
        return ""
    # The promise is about that option, and says nothing about the one that the answer names.
    if abs(np.exp(log_p[likeliest]) - np.exp(log_p[taken])) > _ROUNDOFF:
        return f"the policy takes {names[taken]!r}, not the likeliest; "
    # Of options that are as likely the policy takes any: does it take this one were it ahead?
    ahead = log_p.copy()
    ahead[likeliest] = log_p.max() + _ROUNDOFF
    if int(policy.options(log_normalize(ahead)[None, :])[0]) == likeliest:
        return None
    return f"the policy takes {names[taken]!r}, which is as likely as {names[likeliest]!r}; "
