"""The shape a judge's answer must have: a pydantic model or a JSON Schema."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.json_objects import json_texts
from classify.json_values import JSON, check_json, is_list, is_object
from classify.validation import invalid_input

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class OutputSchema(Protocol):
    """What an answer is asked to be and checked against."""

    @property
    def json_schema(self) -> Mapping[str, JSON]:
        """The schema as it is shown to the model."""
        ...

    def parse(self, text: str) -> Any:
        """Return the value of a JSON text; raises ValueError where it does not fit.

        The message says where and why, and never repeats the text: errors are logged.
        """
        ...


# What generate_score asks for where no schema is given; a docstring would be sent to the model.
class ScoreAnswer(BaseModel):
    model_config = ConfigDict(title="Score")

    score: float = Field(strict=True, allow_inf_nan=False)


class ModelSchema:
    """A pydantic model: its JSON Schema out, its instances back."""

    def __init__(self, model: type[BaseModel]) -> None:
        """Read the model's schema."""
        self._model = model
        self.json_schema = cast("Mapping[str, JSON]", model.model_json_schema())

    def parse(self, text: str) -> Any:
        """Return an instance, read by JSON's rules; raises ValueError."""
        try:
            return self._model.model_validate_json(text)
        except ValidationError as error:
            name = self._model.__name__
            raise ValueError(str(invalid_input(error, name, with_values=False))) from None


class JsonSchema:
    """A JSON Schema as it is; answers come back as plain JSON, checked by `jsonschema`."""

    def __init__(self, schema: Mapping[str, JSON]) -> None:
        """Check the schema itself; raises ScorerDefinitionError."""
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.validators import validator_for

        check_json(schema, "output_schema")
        self.json_schema = schema
        kind = validator_for(schema, Draft202012Validator)
        try:
            kind.check_schema(dict(schema))
        except SchemaError as error:
            raise ScorerDefinitionError(
                f"output_schema is no valid JSON Schema: {error.message} at {error.json_path}"
            ) from None
        self._validator = _offline(kind, schema)

    def parse(self, text: str) -> Any:
        """Return the value; raises ValueError."""
        value: JSON = json.loads(text)
        for error in self._validator.iter_errors(value):
            # Its other messages repeat the answer; this one names the schema's property only.
            missing = error.message if error.validator == "required" else None
            rule = f"breaks the schema's {error.validator}: {error.validator_value!r}"
            raise ValueError(f"{error.json_path}: {missing or rule}")
        return value


def _offline(kind: type[Validator], schema: Mapping[str, JSON]) -> Validator:
    from referencing import Registry

    # An empty registry: a "$ref" to an address is an error instead of a download.
    return kind(schema, registry=Registry())


def output_schema(given: object) -> OutputSchema:
    """Return the schema of a pydantic model or a JSON Schema; raises ScorerDefinitionError."""
    if is_object(given):
        return JsonSchema(cast("Mapping[str, JSON]", given))
    if inspect.isclass(given) and issubclass(given, BaseModel):
        return ModelSchema(given)
    raise ScorerDefinitionError(
        f"output_schema must be a pydantic model or a JSON Schema, got {given!r}"
    )


def last_fitting(text: str, schema: OutputSchema) -> tuple[bool, Any]:
    """Return whether JSON in the text fits the schema, and the last that does.

    Where none does, the second is why, in words.
    """
    problem = "it holds no complete JSON"
    for candidate in reversed(json_texts(text)):
        try:
            return True, schema.parse(candidate)
        except ValueError as error:
            problem = str(error)
    return False, problem


def strict(schema: JSON) -> JSON:
    """Return a schema as providers' strict formats want it: all properties required, no others.

    An answer that follows it follows the original too. A schema of any keys stays as it is.
    """
    if is_list(schema):
        return [strict(cast("JSON", item)) for item in schema]
    if not is_object(schema):
        return schema
    fields = {str(name): cast("JSON", value) for name, value in schema.items()}
    closed = {name: strict(value) for name, value in fields.items() if name != "default"}
    for name in ("properties", "$defs", "definitions"):
        named = fields.get(name)
        if is_object(named):
            closed[name] = {str(k): strict(cast("JSON", value)) for k, value in named.items()}
    properties = fields.get("properties")
    if is_object(properties):
        closed.setdefault("additionalProperties", False)
        closed["required"] = [str(name) for name in properties]
    return closed
