"""From a signature to a validator and to the JSON Schema that a model is shown.

Both come from one pydantic schema of a dict with a key a parameter: keys may have any
name (``self``, ``_id``, ``model_config``), and an absent key stays absent, so that
the function's own default applies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast, get_args, get_origin

from pydantic import GetCoreSchemaHandler, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python
from typing_extensions import Doc

from agtools_nb.define.annotations import MISSING
from agtools_nb.define.checked_schema import is_json
from agtools_nb.define.defaults import constraints_only
from agtools_nb.define.rewritten import rewritten
from agtools_nb.define.signature import UNSENT, Argument, Signature, is_field
from agtools_nb.define.subschemas import allows_null, inline_single_uses, map_subschemas
from agtools_nb.errors import DefinitionError

JsonSchema = dict[str, Any]

_WRONG_TYPE = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)


class _Generator(GenerateJsonSchema):
    """Pydantic's generator without the titles it makes up from names."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def sort(self, value: Any, parent_key: str | None = None) -> Any:
        """Leave the order alone: :func:`_tidy` makes one for readers."""
        return value

    def set_schema(self, schema: Any) -> JsonSchemaValue:
        """Ask for no items without repeats: what repeats is taken, and is in the set once."""
        return self._of_set(super().set_schema(schema))

    def frozenset_schema(self, schema: Any) -> JsonSchemaValue:
        """The same."""
        return self._of_set(super().frozenset_schema(schema))

    def _of_set(self, generated: JsonSchemaValue) -> JsonSchemaValue:
        if self.mode == "validation":
            generated.pop("uniqueItems", None)
        return generated

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """Leave out a default that JSON cannot hold: infinity, a sentinel object."""
        generated = super().default_schema(schema)
        if "default" in generated and not is_json(generated["default"]):
            del generated["default"]
        return generated


def build(
    signature: Signature, descriptions: Mapping[str, str], tool_name: str
) -> tuple[TypeAdapter[dict[str, Any]], JsonSchema]:
    """Return the validator of a signature's arguments and their JSON Schema.

    Args:
        signature: What the function takes.
        descriptions: Description by parameter name, out of the docstring; one
            given in ``Annotated`` wins.
        tool_name: For messages.

    Raises:
        DefinitionError: A parameter's type cannot be written as JSON Schema.
    """
    arguments = _Arguments(signature.arguments, signature.extra)
    try:
        adapter, schema = _built(arguments)
    except Exception as error:  # a type's own code runs here, and may raise anything
        raise _blame(signature, tool_name, error) from error
    return adapter, _finished(schema, signature, descriptions)


def response_schema(annotation: Any) -> JsonSchema | None:
    """The JSON Schema of a return annotation; ``None`` if it has none."""
    if annotation is MISSING or annotation is Any:
        return None
    try:
        schema = TypeAdapter(annotation).json_schema(
            mode="serialization", schema_generator=_Generator
        )
    except Exception:  # what a return type cannot say is not said
        return None
    tidy: JsonSchema = map_subschemas(inline_single_uses(schema), _tidy)
    return tidy


class _Arguments:
    """What pydantic asks for the schema of a function's arguments: an object of its parameters.

    Args:
        arguments: The parameters.
        extra: Type of what ``**kwargs`` takes; :data:`MISSING` if nothing.
    """

    def __init__(self, arguments: Sequence[Argument], extra: Any) -> None:
        self._arguments = arguments
        self._extra = extra

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        fields = {one.name: _field(one, handler) for one in self._arguments}
        if self._extra is MISSING:
            return core_schema.typed_dict_schema(fields, extra_behavior="forbid")
        extra = handler.generate_schema(rewritten(self._extra))
        return core_schema.typed_dict_schema(fields, extra_behavior="allow", extras_schema=extra)


def _built(arguments: _Arguments) -> tuple[TypeAdapter[dict[str, Any]], JsonSchema]:
    adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(cast("Any", Annotated[Any, arguments]))
    return adapter, adapter.json_schema(schema_generator=_Generator)


def _field(argument: Argument, handler: GetCoreSchemaHandler) -> core_schema.TypedDictField:
    annotation = rewritten(argument.annotation)
    if get_origin(annotation) is not Annotated and not is_field(argument.default):
        schema = handler.generate_schema(annotation)
        return core_schema.typed_dict_field(schema, required=argument.required)
    metadata = list(_plain_descriptions(annotation))
    if is_field(argument.default):
        metadata.append(constraints_only(argument.default))
    for item in metadata:
        annotation = Annotated[annotation, item]
    return core_schema.typed_dict_field(
        handler.generate_schema(annotation),
        required=argument.required,
        validation_alias=_alias(annotation),
    )


def _alias(annotation: Any) -> Any:
    """The key that ``Field(alias=...)`` gives a parameter; ``None`` if its name is the key."""
    for item in reversed(get_args(annotation)[1:]):
        alias = item.validation_alias if isinstance(item, FieldInfo) else None
        if alias is not None:
            return alias if isinstance(alias, str) else alias.convert_to_aliases()
    return None


def _plain_descriptions(annotation: Any) -> list[FieldInfo]:
    """``Annotated[int, "How many"]`` and ``Doc("How many")`` as descriptions."""
    if get_origin(annotation) is not Annotated:
        return []
    found = []
    for item in get_args(annotation)[1:]:
        text = item.documentation if isinstance(item, Doc) else item
        if isinstance(text, str):
            found.append(FieldInfo(description=text))
    return found[:1]


def _is_described(argument: Argument) -> bool:
    """Whether the author described a parameter in its annotation or its ``Field(...)``."""
    items = [argument.default]
    if get_origin(argument.annotation) is Annotated:
        items += get_args(argument.annotation)[1:]
    return any(
        bool(item.description) if isinstance(item, FieldInfo) else isinstance(item, (str, Doc))
        for item in items
        if item is not argument.default or isinstance(item, FieldInfo)
    )


def _finished(
    schema: JsonSchema, signature: Signature, descriptions: Mapping[str, str]
) -> JsonSchema:
    schema = inline_single_uses(schema)
    properties = schema.setdefault("properties", {})
    # A parameter may have another key there: its alias.
    for argument, own in zip(signature.arguments, properties.values(), strict=False):
        _add_default(own, argument)
        text = descriptions.get(argument.name)
        if text and not _is_described(argument):
            own["description"] = text
    if schema.get("additionalProperties") == {}:
        # ``**kwargs`` without a type: anything goes. ``true`` says so to readers too.
        schema["additionalProperties"] = True
    tidy: JsonSchema = map_subschemas(schema, _tidy)
    return tidy


# The order in which people read a schema; keywords not named here come before "properties".
_FIRST = ("type", "description", "enum", "const", "format", "minimum", "maximum", "default")
_LAST = ("properties", "required", "additionalProperties", "$defs")


_CLASS_NAME = re.compile(r"\w+(\[.*\])?")  # also ``Box[int]``


def _tidy(node: JsonSchema) -> JsonSchema:
    """Order the keywords, and drop a title that only repeats a class name."""
    if "title" in node and _is_made_up(node):
        del node["title"]
    if len(node) == 1:
        return node
    first = {key: node[key] for key in _FIRST if key in node}
    last = {key: node[key] for key in _LAST if key in node}
    middle = {key: value for key, value in node.items() if key not in first and key not in last}
    return first | middle | last


def _is_made_up(node: JsonSchema) -> bool:
    """A title that the author wrote is seldom one word."""
    title = node["title"]
    is_class = node.get("type") == "object" or "enum" in node or "const" in node
    return is_class and isinstance(title, str) and _CLASS_NAME.fullmatch(title) is not None


def _add_default(schema: JsonSchema, argument: Argument) -> None:
    if argument.required or argument.default is UNSENT or "default" in schema:
        return
    if is_field(argument.default) and argument.default.default_factory is not None:
        return
    value = argument.default_value()
    if value is None and not allows_null(schema):
        return
    try:
        value = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        return
    if is_json(value):
        schema["default"] = value


def _blame(signature: Signature, tool_name: str, error: Exception) -> DefinitionError:
    """Find the parameter that cannot be written as JSON Schema, by trying each alone."""
    for argument in signature.arguments:
        try:
            _built(_Arguments([argument], MISSING))
        except Exception as own:
            return _unfit(tool_name, f"parameter {argument.name!r}", argument.annotation, own)
    return _unfit(tool_name, "parameter **kwargs", signature.extra, error)


def _unfit(tool_name: str, where: str, annotation: Any, error: Exception) -> DefinitionError:
    reason = str(error).split("\n", 1)[0]
    if isinstance(error, PydanticUserError) and not isinstance(error, _WRONG_TYPE):
        # Pydantic's advice on how to write the type: it can be held.
        return DefinitionError(f"{tool_name} cannot be a tool: {where}: {reason}")
    shown = getattr(annotation, "__name__", None) or repr(annotation)
    return DefinitionError(
        f"{tool_name} cannot be a tool: {where} has the type {shown}, which JSON Schema cannot "
        f"hold ({reason}). Use a type that JSON can carry (a number, text, a list, a dict, a "
        "pydantic model, a dataclass), or look the object up inside the function."
    )
