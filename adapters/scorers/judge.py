"""Who judges a prompt step, and how: settings of a scorer that a step may override."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.processors import ErrorProcessor, InputProcessor, OutputProcessor
from classify.adapters.scorers.retrying import check_retries
from classify.json_values import JSON, check_json, is_list
from classify.language_model import LanguageModel, Reply
from classify.providers import resolve_model

Injection: TypeAlias = bool | Literal["system", "inline", "auto"]
"""Where the JSON Schema is shown to the model: see `Judge.json_prompt_injection`."""

_PLACES = ("system", "inline", "auto")
_DEFAULT_RETRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A language model with instructions; None inherits the scorer's setting, field by field.

    Raises ScorerDefinitionError for an unusable setting; nothing is sent.
    """

    model: str | LanguageModel | None = None
    """A model, or its name such as "openai/gpt-4.1-mini", which is looked up when it is asked."""
    instructions: str | None = None
    """What the judge is told in every step, as the system message."""
    json_prompt_injection: Injection | None = None
    """False: the provider's own response format. True, "system": the schema is added to the
    instructions; "inline": to the prompt. "auto", the default: the response format, or the
    instructions where the model says that it has none."""
    input_processors: Sequence[InputProcessor] | None = None
    """Applied in order to the messages; () switches off the scorer's."""
    output_processors: Sequence[OutputProcessor] | None = None
    """Applied in order to the model's text, before anything is read from it."""
    error_processors: Sequence[ErrorProcessor] | None = None
    """Asked in order about a failed request; without any, nothing is retried."""
    max_processor_retries: int | None = None
    """Retries of one judge request, its fallback included; 10 where error processors are given,
    and refused where a step has none at all."""
    model_settings: Mapping[str, JSON] | None = None
    """temperature, max_tokens, seed, and any field for the provider; a step's replace them all."""
    on_finish: Callable[[Reply], object] | None = None
    """Called with each reply, synchronous or not; what it raises fails the step."""

    def __post_init__(self) -> None:
        """Check what a signature cannot."""
        if self.model is not None and not isinstance(self.model, str | LanguageModel):
            raise ScorerDefinitionError(
                f"the judge's model must be a name or a LanguageModel, got {self.model!r}; "
                f"a model of decisions answers a Classifier's questions"
            )
        if self.instructions is not None and not isinstance(self.instructions, str):
            raise ScorerDefinitionError(
                f"the judge's instructions must be a string, got {self.instructions!r}"
            )
        way = self.json_prompt_injection
        if way is not None and not isinstance(way, bool) and way not in _PLACES:
            raise ScorerDefinitionError(
                f"json_prompt_injection must be True, False, 'system', 'inline' or 'auto', "
                f"got {way!r}"
            )
        _check_processors("input_processors", self.input_processors, InputProcessor)
        _check_processors("output_processors", self.output_processors, OutputProcessor)
        _check_processors("error_processors", self.error_processors, ErrorProcessor)
        if self.max_processor_retries is not None:
            check_retries(self.max_processor_retries, "max_processor_retries")
        _check_settings(self.model_settings)

    @property
    def retries(self) -> int:
        """How many retries one judge request may take."""
        most = self.max_processor_retries
        return 0 if not self.error_processors else _DEFAULT_RETRIES if most is None else most

    def overridden_by(self, step: Judge | None) -> Judge:
        """Return these settings with those that a step gives in their place."""
        if step is None:
            return self
        values = {field.name: getattr(step, field.name) for field in fields(step)}
        return replace(self, **{name: value for name, value in values.items() if value is not None})


class JudgeModels:
    """The models that a scorer has looked up by name, each once; they are its own to close."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[str, LanguageModel] = {}
        self._without_format: set[int] = set()

    def get(self, model: str | LanguageModel) -> LanguageModel:
        """Return the model; raises InvalidInput for a name that leads to none."""
        if not isinstance(model, str):
            return model
        if model not in self._found:
            found = resolve_model(model)
            if not isinstance(found, LanguageModel):
                raise ScorerDefinitionError(
                    f"the judge's model {model!r} answers typed questions only; use it in a "
                    f"Classifier, and name a language model here"
                )
            self._found[model] = found
        return self._found[model]

    def has_format(self, model: LanguageModel) -> bool:
        """Whether the model has not yet said that it has no response format."""
        return id(model) not in self._without_format

    def lacks_format(self, model: LanguageModel) -> None:
        """Remember what it said."""
        self._without_format.add(id(model))

    async def aclose(self) -> None:
        """Close the models found by name; one that is asked again is looked up again."""
        found, self._found = list(self._found.values()), {}
        for model in found:
            await model.aclose()


def _check_processors(name: str, given: object, kind: type[Any]) -> None:
    if given is None:
        return
    if not is_list(given) or not all(isinstance(processor, kind) for processor in given):
        raise ScorerDefinitionError(
            f"{name} must be a list of objects that each have {_method(kind)}, got {given!r}"
        )


def _method(kind: type[Any]) -> str:
    return str(next(name for name in vars(kind) if name.startswith("process_")))


def _check_settings(settings: Mapping[str, JSON] | None) -> None:
    if settings is None:
        return
    check_json(settings, "model_settings")
    for name, kinds in (("temperature", int | float), ("max_tokens", int), ("seed", int)):
        value = settings.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, kinds):
            raise ScorerDefinitionError(f"model_settings.{name} must be a number, got {value!r}")
    most = settings.get("max_tokens", 1)
    if (isinstance(most, int) and most < 1) or "stream" in settings or "n" in settings:
        raise ScorerDefinitionError(
            f"model_settings must ask for one whole reply of at least one token, got {settings!r}"
        )
