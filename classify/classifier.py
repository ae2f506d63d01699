"""The Classifier: put typed questions to a model and get checked answers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sized,
)
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias, Unpack
from uuid import uuid4

from classify.answers import Answer, NoVerdict
from classify.blocking import blocking, blocking_iterator
from classify.calibrating import AfterReading, AnswerCalibrator, AnswerPolicy
from classify.calls import Calls, Deadline, checked_concurrency
from classify.completions import as_completed, in_order
from classify.content_free import ContentFreePriors
from classify.decision import DecisionModel, DecisionRequest, DecisionResponse, ResponseInfo
from classify.display.notebook import Shown
from classify.errors import (
    CalibrationError,
    ClassifyError,
    DeadlineExceeded,
    InvalidAnswer,
    InvalidInput,
    ProviderError,
    UnexpectedError,
    UnsupportedQuestion,
)
from classify.evaluation import Evaluation, TotalUsage
from classify.function_facts import function_facts
from classify.gate import check_response, copied_answers, without_outdated
from classify.json_values import JSON, check_json, is_object, plain
from classify.language_model import INCREDIBLE_USAGE, LanguageModel, Usage
from classify.logprob_model import LogprobModel
from classify.model_facts import model_facts
from classify.options import Options, OptionValues
from classify.prior import batch_corrected, check_batch_size, corrected_alone
from classify.prompts import TEMPLATE
from classify.providers import resolve_model
from classify.question_sets import Questions, QuestionSet, parse_questions
from classify.questions import Question
from classify.shared_limits import shared_limiter
from classify.validation import check_timeout
from classify.version import __version__

if TYPE_CHECKING:
    from classify.display.cards import Card

Transform: TypeAlias = Callable[[DecisionResponse], DecisionResponse]
Outcome: TypeAlias = Evaluation | ClassifyError


class Classifier(Shown):
    """Named questions about one JSON-compatible state, answered by a model.

    `model` is "provider/model", "local", a LanguageModel or a DecisionModel; None means the
    embedded model where no provider's key is set. Questions are given here or with each call, not
    both. `transform` changes a response before it is checked: where it changes an answer's numbers
    and leaves what the answer says of them (`bounds`, `score_range`, `tie`), that is dropped, being
    about the model's own numbers. `calibrators` and `policies`, question id -> calibrator and
    abstention policy, act on answers that are checked: raw probabilities are kept, and an answer
    that a policy hands over is a no-verdict. A classifier is not pickled: a worker process makes
    its own. Its copy is itself.

    Raises InvalidInput for an unusable id, question or option, UnsupportedQuestion for a kind
    that the model does not answer.
    """

    def __init__(
        self,
        id: str,
        model: str | LanguageModel | DecisionModel | None = None,
        questions: Questions | type[QuestionSet] | None = None,
        *,
        transform: Transform | None = None,
        calibrators: Mapping[str, AnswerCalibrator] | None = None,
        policies: Mapping[str, AnswerPolicy] | None = None,
        **options: Unpack[OptionValues],
    ) -> None:
        """Resolve the model and check the questions; nothing is sent."""
        if not isinstance(id, str) or not id.strip():
            raise InvalidInput(f"the classifier's id must be a non-empty string, got {id!r}")
        check_json(id, "the classifier's id")
        self.id = id
        self.options = Options(**options)
        self.model = _decision_model(model, self.options)
        if isinstance(self.model, LogprobModel):
            if options and self.options != self.model.options:
                raise InvalidInput(
                    "a LogprobModel has its own options: give them to it, or give the classifier "
                    "its language model"
                )
            self.options = self.model.options
        self.questions = {} if questions is None else parse_questions(questions)
        self._configured = questions is not None
        self._transform = transform
        self._priors = ContentFreePriors()
        self._check_kinds(self.questions)
        self._after = AfterReading(
            self.model.model_id, self.options, calibrators or {}, policies or {}
        )
        if self._configured:
            self._after.check_names(self.questions)
        self.fingerprint_problem: str | None = None
        """Why no other classifier's fingerprint can be known for this one's, such as that of the
        same program started again; None where it can."""
        self._facts = self._identity()
        self.evaluate_sync = blocking(self.evaluate)
        """`evaluate`, waiting for the answer; in a notebook too."""
        self.evaluate_many_sync = blocking(self.evaluate_many)
        """`evaluate_many`, waiting for the answers."""
        self.stream_sync = blocking_iterator(self.stream)
        """`stream`, for an ordinary `for` loop."""
        self.as_completed_sync = blocking_iterator(self.as_completed)
        """`as_completed`, for an ordinary `for` loop."""
        self.aclose_sync = blocking(self.aclose)
        """`aclose`, waiting for the end."""

    def __repr__(self) -> str:
        """Name the classifier, its model and its questions; nothing secret is among them."""
        model = f"{self.model.provider}/{self.model.model_id}"
        return f"Classifier({self.id!r}, {model!r}, questions={list(self.questions)!r})"

    def __copy__(self) -> Self:
        """Return the classifier itself: nothing that is asked of it changes it."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Do the same."""
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError: connections belong to a process."""
        raise TypeError(
            f"the classifier {self.id!r} cannot be pickled, since its connections belong to this "
            "process: make it inside the worker, such as by load_spec(path).classifier(), or in "
            "place of workers give evaluate_many a concurrency"
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that can change an answer besides the state.

        A model is known by its class, its names and what its `settings` say; a transform by its
        bytecode and what it holds; calibrators and policies by their text. Where one cannot be
        known so, the fingerprint is that of no other classifier, and `fingerprint_problem` says
        why.
        """
        facts = {
            **self._facts,
            # As declared: the first declared of tied options is chosen.
            "questions": [[name, q.model_dump_json()] for name, q in self.questions.items()],
            "options": self.options.model_dump(),
            "template": TEMPLATE,
            "version": __version__,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _identity(self) -> dict[str, JSON]:
        """Return what tells the model and what is done to its answers from others."""
        try:
            return {
                "model": model_facts(self.model),
                "transform": _transform_facts(self._transform),
                "after": self._after.facts(),
            }
        except InvalidInput as problem:
            self.fingerprint_problem = str(problem)
            return {"model": uuid4().hex}

    async def evaluate(
        self,
        state: JSON,
        questions: Questions | type[QuestionSet] | None = None,
        *,
        concurrency: int | None = None,
        max_retries: int = 2,
        timeout: float | None = None,
        provider_options: Mapping[str, JSON] | None = None,
    ) -> Evaluation:
        """Put the questions to the model about one state.

        `concurrency` bounds the requests in flight at the model's address, over all that this
        event loop asks of it: the largest that anybody asks for counts. None is 8, or what the
        `run_evals` around it was given. `timeout` is in seconds, for everything together but the
        time in which all requests wait for a place among those in flight; `max_retries` counts
        for each request; `provider_options` are passed to the provider as they are. Cancelling
        the task ends the request and any wait before a retry.

        Raises InvalidInput before anything is sent, ModelError and its kinds where no answer
        came (DeadlineExceeded for the timeout), InvalidAnswer where the answers break the rules.
        """
        if self.options.prior == "batch":
            raise InvalidInput(
                'prior="batch" corrects many answers together: use evaluate_many, `classify run`, '
                "or another prior"
            )
        asked = self._asked(questions)
        with shared_limiter(self.model, concurrency) as limiter:
            return await self._evaluate(
                state,
                asked,
                calls=Calls(max_retries=max_retries, limiter=limiter),
                timeout=timeout,
                provider_options=provider_options,
            )

    async def evaluate_many(
        self,
        states: Iterable[JSON] | AsyncIterable[JSON],
        *,
        concurrency: int = 8,
        max_retries: int = 2,
        timeout: float | None = None,
        provider_options: Mapping[str, JSON] | None = None,
    ) -> list[Outcome]:
        """Evaluate every state, in order; one that failed has its error in its place.

        What a model or a transform raises of its own is there as an UnexpectedError.
        `concurrency` bounds the states in flight, and the requests as in `evaluate`; `timeout` is
        for each state.
        With prior="batch" and fewer than 32 states, InvalidInput is raised before anything is
        sent; where fewer got an answer, the error carries what there is as `outcomes`.
        """
        counted: object = states
        if self.options.prior == "batch" and isinstance(counted, Sized):
            check_batch_size(len(counted))
        outcomes = [
            outcome
            async for outcome in self.stream(
                states,
                concurrency=concurrency,
                max_retries=max_retries,
                timeout=timeout,
                provider_options=provider_options,
            )
        ]
        return self.batch_corrected(outcomes) if self.options.prior == "batch" else outcomes

    async def stream(
        self,
        states: Iterable[JSON] | AsyncIterable[JSON],
        *,
        concurrency: int = 8,
        max_retries: int = 2,
        timeout: float | None = None,
        provider_options: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[Outcome, None]:
        """Yield the outcome of every state, in order, reading about 2 x concurrency ahead.

        Leave it early inside `contextlib.aclosing`, so that what is in flight ends at once.

        With prior="batch" the answers are as they were read: `batch_corrected` does the rest.
        """
        with shared_limiter(self.model, checked_concurrency(concurrency)) as limiter:
            calls = Calls(max_retries=max_retries, limiter=limiter)
            ask = self._ask_each(concurrency, calls, timeout, provider_options)
            async with aclosing(in_order(_each(states), ask, window=2 * concurrency)) as outcomes:
                async for outcome in outcomes:
                    yield outcome

    async def as_completed(
        self,
        states: Iterable[JSON] | AsyncIterable[JSON],
        *,
        concurrency: int = 8,
        max_retries: int = 2,
        timeout: float | None = None,
        provider_options: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[tuple[int, Outcome], None]:
        """Yield each state's position and outcome as soon as it is there; else as `stream`.

        A slow state holds back no other.
        """
        with shared_limiter(self.model, checked_concurrency(concurrency)) as limiter:
            calls = Calls(max_retries=max_retries, limiter=limiter)
            ask = self._ask_each(concurrency, calls, timeout, provider_options)
            window = 2 * concurrency
            async with aclosing(as_completed(_each(states), ask, window=window)) as arrivals:
                async for arrival in arrivals:
                    yield arrival

    def _ask_each(
        self,
        concurrency: int,
        shared: Calls,
        timeout: float | None,
        provider_options: Mapping[str, JSON] | None,
    ) -> Callable[[JSON], Coroutine[object, None, Outcome]]:
        """Return what evaluates one state of many: an error is its outcome."""
        asked = self._asked(None)
        turns = asyncio.Semaphore(concurrency)

        async def ask(state: JSON) -> Outcome:
            async with turns:
                calls = shared.child()
                try:
                    return await self._evaluate(
                        state,
                        asked,
                        calls=calls,
                        timeout=timeout,
                        provider_options=provider_options,
                    )
                except ClassifyError as error:
                    return error
                except Exception as error:  # a model's or a transform's own
                    return UnexpectedError(error, attempts=calls.attempts)
                except asyncio.CancelledError as error:
                    task = asyncio.current_task()
                    if task is None or task.cancelling():
                        raise
                    # Nobody cancelled: the model's own as well.
                    return UnexpectedError(error, attempts=calls.attempts)

        return ask

    def batch_corrected(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Divide the batch prior out of answers as they were read, then calibrate them.

        Answers that were corrected before are corrected again from their raw probabilities; of
        those that a calibrator refuses the error is in their place.
        Raises InvalidInput where a question has fewer than 32 answers with a distribution.
        """
        return [
            self._calibrated(outcome) if isinstance(outcome, Evaluation) else outcome
            for outcome in batch_corrected(list(outcomes), self.questions)
        ]

    def check_calibrators(self, evaluation: Evaluation) -> None:
        """Raise CalibrationError where a calibrator will refuse a batch's answers, known by one.

        Once the batch is there, all of them have been paid for.
        """
        answers = corrected_alone(evaluation.answers, self.questions)
        found = self._calibrated(evaluation.model_copy(update={"answers": answers}))
        if isinstance(found, CalibrationError):
            raise found

    def _calibrated(self, evaluation: Evaluation) -> Outcome:
        try:
            answers = self._after.applied(evaluation.answers, self.questions)
        except ClassifyError as error:
            return error
        except Exception as error:  # a calibrator's own
            return UnexpectedError(error, attempts=evaluation.attempts)
        return evaluation.model_copy(update={"answers": answers})

    async def aclose(self) -> None:
        """Release the model's connections; the classifier is not used afterwards."""
        close = getattr(self.model, "aclose", None)
        if close is not None:
            await close()

    def _card(self) -> Card:
        from classify.display.question_cards import classifier_card

        return classifier_card(self, self._after)

    async def _evaluate(
        self,
        state: JSON,
        asked: dict[str, Question],
        *,
        calls: Calls,
        timeout: float | None,
        provider_options: Mapping[str, JSON] | None,
    ) -> Evaluation:
        check_json(state, "state")
        if not isinstance(provider_options, Mapping | None):
            raise InvalidInput(
                f"provider_options must map a field to its value, got {provider_options!r}"
            )
        check_json(provider_options, "provider_options")
        check_timeout(timeout)
        started = time.perf_counter()
        request = DecisionRequest(state, asked, calls, provider_options or {})
        calls.deadline = deadline = Deadline(timeout)
        try:
            async with deadline:
                response, answers = await self._decide(request)
                if self.options.prior == "content-free":
                    answers, more = await self._priors.divide_out(answers, request, self._decide)
                    response = replace(response, usage=(response.usage or Usage()) + more)
            if self.options.prior != "batch":  # a batch is corrected first, all together
                answers = self._after.applied(answers, asked)
        except TimeoutError:
            if deadline.clock.expired() and timeout is not None:
                raise DeadlineExceeded(timeout, attempts=calls.attempts) from None
            raise
        except (ProviderError, InvalidAnswer) as error:
            error.attempts = calls.attempts  # of all questions, and not of the failed one alone
            raise
        seconds = time.perf_counter() - started
        evaluation = self._evaluation(response, answers, attempts=calls.attempts, seconds=seconds)
        return evaluation.with_questions(asked)

    async def _decide(
        self, request: DecisionRequest
    ) -> tuple[DecisionResponse, dict[str, Answer | NoVerdict]]:
        tries = 0

        async def decided() -> DecisionResponse:
            nonlocal tries
            tries += 1
            return await self.model.decide(request)

        try:
            response = await request.calls.retry(decided)
        finally:
            if not request.calls.counts:  # a model that makes one request by itself
                request.calls.attempts += tries
        # A cancellation that came while the model was answering wins over the answer.
        await asyncio.sleep(0)
        if self._transform is not None:
            before = copied_answers(response)
            response = without_outdated(self._transform(response), before)
        return response, check_response(response, request.questions)

    def _evaluation(
        self,
        response: DecisionResponse,
        answers: dict[str, Answer | NoVerdict],
        *,
        attempts: int,
        seconds: float,
    ) -> Evaluation:
        reported = response.usage or Usage()
        usage = reported.credible
        warnings = tuple(response.warnings)
        info = response.response or ResponseInfo()
        return Evaluation(
            classifier_id=self.id,
            answers=answers,
            usage=TotalUsage(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                total_tokens=usage.total_tokens,
            ),
            warnings=warnings if usage == reported else (*warnings, INCREDIBLE_USAGE),
            rounding=response.rounding,
            provider_metadata=(
                None
                if response.provider_metadata is None
                else {name: plain(value) for name, value in response.provider_metadata.items()}
            ),
            response=ResponseInfo(
                info.id, info.timestamp or datetime.now(UTC), info.model_id or self.model.model_id
            ),
            attempts=attempts,
            seconds=seconds,
        )

    def _asked(self, questions: Questions | type[QuestionSet] | None) -> dict[str, Question]:
        if questions is not None and self._configured:
            raise InvalidInput(
                f"classifier {self.id!r} was built with questions: give them there or with the "
                "call, not both"
            )
        if questions is None and not self._configured:
            raise InvalidInput(
                f"questions are required: classifier {self.id!r} was built without any"
            )
        # The configured ones are checked again, because their containers can be changed.
        asked = parse_questions(self.questions if questions is None else questions)
        self._check_kinds(asked)
        return asked

    def _check_kinds(self, questions: Mapping[str, Question]) -> None:
        known = self.model.supported_question_types
        for name, question in questions.items():
            if known is not None and question.type not in known:
                raise UnsupportedQuestion(
                    name, question.type, self.model.provider, self.model.model_id
                )


def _decision_model(
    model: str | LanguageModel | DecisionModel | None, options: Options
) -> DecisionModel:
    found = resolve_model(model) if model is None or isinstance(model, str) else model
    if not isinstance(found, type):  # a class has the methods too, and answers nothing
        if isinstance(found, DecisionModel):
            return found
        if isinstance(found, LanguageModel):
            return LogprobModel(found, options)
    raise InvalidInput(
        'the model must be "provider/model", a LanguageModel or a DecisionModel, '
        f"got {type(model).__name__}"
    )


def _transform_facts(transform: Transform | None) -> JSON:
    try:
        return None if transform is None else function_facts(transform)
    except InvalidInput as problem:
        raise InvalidInput(
            f"the transform cannot be told from others of its name: {problem}; make it a function, "
            "or an object with `__call__`, that holds only JSON values and others like it"
        ) from None


async def _each(
    states: Iterable[JSON] | AsyncIterable[JSON],
) -> AsyncGenerator[JSON, None]:
    if isinstance(states, str | bytes) or is_object(states):
        raise InvalidInput("states must be a list of states, got one text or object: wrap it in []")
    if not isinstance(states, Iterable | AsyncIterable):
        raise InvalidInput(f"states must be a list of states, got {states!r}")
    if isinstance(states, AsyncIterable):
        async for state in states:
            yield state
    else:
        for state in states:
            yield state
