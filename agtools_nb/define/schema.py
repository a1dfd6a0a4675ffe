"""From a signature to a validator and to the JSON Schema that a model is shown.

Both come from one pydantic ``TypedDict`` with a key a parameter: keys may have any
name (``self``, ``_id``, ``model_config``), and an absent key stays absent, so that
the function's own default applies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, cast, get_args, get_origin

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticSerializationError, to_jsonable_python
from typing_extensions import Doc, TypedDict

from agtools_nb.define.annotations import MISSING
from agtools_nb.define.checked_schema import is_json
from agtools_nb.define.rewritten import rewritten
from agtools_nb.define.signature import UNSENT, Argument, Signature, is_field
from agtools_nb.define.subschemas import inline_single_uses, map_subschemas
from agtools_nb.errors import DefinitionError

JsonSchema = dict[str, Any]

_WRONG_TYPE = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)


class _Generator(GenerateJsonSchema):
    """Pydantic's generator without the titles it makes up from names."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

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
    fields = {}
    for argument in signature.arguments:
        try:
            fields[argument.name] = _field(argument, descriptions.get(argument.name))
        except Exception as error:
            where = f"parameter {argument.name!r}"
            raise _unfit(tool_name, where, argument.annotation, error) from error
    try:
        adapter, schema = _adapter(fields, signature.extra)
    except Exception as error:  # a type's own code runs here, and may raise anything
        raise _blame(signature, fields, tool_name, error) from error
    return adapter, _finished(schema, signature, adapter)


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
    return _without_made_up_titles(inline_single_uses(schema))


def _adapter(
    fields: Mapping[str, Any], extra: Any
) -> tuple[TypeAdapter[dict[str, Any]], JsonSchema]:
    how: dict[str, Any] = {"closed": True} if extra is MISSING else {"extra_items": extra}
    arguments: Any = TypedDict("arguments", dict(fields), **how)  # type: ignore[misc]
    adapter = cast("TypeAdapter[dict[str, Any]]", TypeAdapter(cast("Any", arguments)))
    return adapter, adapter.json_schema(by_alias=True, schema_generator=_Generator)


def _field(argument: Argument, description: str | None) -> Any:
    annotation = rewritten(argument.annotation)
    metadata = list(_plain_descriptions(annotation))
    if is_field(argument.default):
        metadata.append(_constraints_only(argument.default))
    described = _is_described(annotation) or any(item.description for item in metadata)
    if description and not described:
        metadata.append(FieldInfo(description=description))
    for item in metadata:
        annotation = Annotated[annotation, item]
    return annotation if argument.required else NotRequired[annotation]


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


def _is_described(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and any(
        isinstance(item, FieldInfo) and item.description for item in get_args(annotation)[1:]
    )


def _constraints_only(info: FieldInfo) -> FieldInfo:
    """A ``Field(...)`` without its default, which a ``TypedDict`` key cannot have."""
    known = {
        name: value
        for name, value in info._attributes_set.items()
        if name not in ("default", "default_factory", "annotation")
    }
    bare = FieldInfo(**known)
    bare.metadata = list(info.metadata)
    return bare


def _finished(
    schema: JsonSchema, signature: Signature, adapter: TypeAdapter[dict[str, Any]]
) -> JsonSchema:
    schema = _without_made_up_titles(inline_single_uses(schema))
    properties = schema.setdefault("properties", {})
    names = list(properties)
    for argument, name in zip(signature.arguments, names, strict=False):
        _add_default(properties[name], argument)
    if schema.get("additionalProperties") == {}:
        # ``**kwargs`` without a type: anything goes. ``true`` says so to readers too.
        schema["additionalProperties"] = True
    ordered: JsonSchema = map_subschemas(schema, _ordered)
    return ordered


# The order in which people read a schema; keywords not named here come before "properties".
_FIRST = ("type", "description", "enum", "const", "format", "minimum", "maximum", "default")
_LAST = ("properties", "required", "additionalProperties", "$defs")


def _ordered(node: JsonSchema) -> JsonSchema:
    middle = [key for key in node if key not in _FIRST and key not in _LAST]
    return {key: node[key] for key in (*_FIRST, *middle, *_LAST) if key in node}


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


def allows_null(schema: JsonSchema) -> bool:
    """Whether a schema says at its own level that ``null`` is a value."""
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if any(isinstance(branch, dict) and allows_null(branch) for branch in branches):
        return True
    return not {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"} & schema.keys()


_CLASS_NAME = re.compile(r"\w+(\[.*\])?")  # also ``Box[int]``


def _without_made_up_titles(schema: JsonSchema) -> JsonSchema:
    """Drop titles that only repeat a class name. A title the author wrote differs from it."""

    def clean(node: JsonSchema) -> JsonSchema:
        kind = node.get("type")
        made_up = kind == "object" or "enum" in node or "const" in node
        if made_up and isinstance(node.get("title"), str) and _CLASS_NAME.fullmatch(node["title"]):
            return {key: value for key, value in node.items() if key != "title"}
        return node

    cleaned: JsonSchema = map_subschemas(schema, clean)
    return cleaned


def _blame(
    signature: Signature, fields: Mapping[str, Any], tool_name: str, error: Exception
) -> DefinitionError:
    """Find the parameter that cannot be written as JSON Schema, by trying each alone."""
    for argument in signature.arguments:
        try:
            _adapter({argument.name: fields[argument.name]}, MISSING)
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
