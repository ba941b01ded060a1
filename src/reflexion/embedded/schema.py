"""What ``format`` asks for, made ready for llama.cpp's constrained sampling.

llama.cpp, as built into xllamacpp, samples *without* any constraint when it cannot compile a schema, and says so only
in its log. So what it is known not to compile is refused here, with the words that Ollama uses, and the runner watches
the log for the rest.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from reflexion.embedded.wire import ApiError

Schema = dict[str, object]

TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
COMBINATIONS = {"anyOf", "allOf", "$ref"}
CHOICES = {"enum", "const"}
TELLING = {"properties": "object", "pattern": "string"}
FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
# Words of JSON Schema that would be dropped in silence. Others are notes, or no words of it, and constrain nothing.
REFUSED = {"not", "if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas"}
REFUSED |= {"contains", "minContains", "maxContains", "additionalItems", "unevaluatedItems"}
REFUSED |= {"patternProperties", "propertyNames", "unevaluatedProperties", "$dynamicRef", "$recursiveRef"}
BOUNDS = {
    "minimum": "maximum",
    "exclusiveMinimum": "exclusiveMaximum",
    "minLength": "maxLength",
    "minItems": "maxItems",
    "minProperties": "maxProperties",
}
# Whitespace between tokens is where small models get lost until the token limit; one blank is enough for JSON.
COMPACT = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}
INVALID = "invalid JSON schema in format"


def schema_of_format(wanted: object) -> Schema | None:
    """The schema to sample under, or ``None`` for free text.

    Raises:
        ApiError: 500, as Ollama, for a format that is no schema or a schema that cannot be kept.
    """
    if wanted is None or wanted == "":
        return None
    if wanted == "json":
        return {"type": "object", "x-guidance": COMPACT}
    if not isinstance(wanted, dict):
        quoted = json.dumps(json.dumps(wanted, ensure_ascii=False), ensure_ascii=False)
        raise ApiError(500, f'invalid format: {quoted}; expected "json" or a valid JSON Schema object')
    try:
        return {**_Preparation(wanted).schema(wanted), "x-guidance": COMPACT}
    except (ValueError, TypeError, RecursionError) as error:
        raise ApiError(500, INVALID) from error


class _Preparation:
    """Copies a schema keyword by keyword; a ValueError or TypeError says that it cannot be kept."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._keywords: Mapping[str, Callable[[object], object]] = {
            "type": _known_type,
            "enum": _choices,
            "const": lambda value: value,
            "required": _names,
            "properties": self._by_name,
            "$defs": self._by_name,
            "definitions": self._by_name,
            "items": self._any_schema,
            "additionalProperties": self._any_schema,
            "prefixItems": self._each,
            "anyOf": self._each,
            "oneOf": self._each,
            "allOf": self._only_one,
            "$ref": self._reference,
            "multipleOf": _number,
            "pattern": _anchored,
            **dict.fromkeys([*BOUNDS, *BOUNDS.values()], _number),
        }

    def schema(self, schema: object) -> Schema:
        if not isinstance(schema, dict):
            raise TypeError
        prepared = {key: self._keywords[key](value) for key, value in schema.items() if self._known(key)}
        if schema.get("format") in FORMATS:
            prepared["format"] = schema["format"]
        if "oneOf" in prepared:
            prepared["anyOf"] = prepared.pop("oneOf")
        _check_bounds(schema)
        _check_choices(schema)
        return _closed(_with_type(prepared))

    def _known(self, key: str) -> bool:
        if key in REFUSED:
            raise ValueError(key)
        return key in self._keywords

    def _any_schema(self, value: object) -> object:
        return value if isinstance(value, bool) else self.schema(value)

    def _each(self, values: object) -> object:
        if not isinstance(values, list) or not values:
            raise TypeError
        return [self._any_schema(value) for value in values]

    def _only_one(self, values: object) -> object:
        # Two closed objects have no value in common, and llama.cpp would drop the schema.
        if not isinstance(values, list) or len(values) != 1:
            raise ValueError(values)
        return self._each(values)

    def _by_name(self, values: object) -> object:
        if not isinstance(values, dict):
            raise TypeError
        return {name: self._any_schema(value) for name, value in values.items()}

    def _reference(self, target: object) -> object:
        if not isinstance(target, str) or not target.startswith("#"):
            raise ValueError(target)
        found: object = self._root
        for part in target.removeprefix("#").removeprefix("/").split("/") if target != "#" else []:
            if not isinstance(found, dict) or part not in found:
                raise ValueError(target)
            found = found[part]
        return target


def _with_type(prepared: Schema) -> Schema:
    """Ollama's grammars take the type for said that alone can have such properties or such a pattern."""
    meant = next((kind for word, kind in TELLING.items() if word in prepared), None)
    if meant is None or (CHOICES | COMBINATIONS) & prepared.keys():
        return prepared
    return {"type": meant, **prepared}


def _closed(prepared: Schema) -> Schema:
    """Objects hold what they name and no more, as in Ollama's grammars; what is required must be among it."""
    named = prepared.get("properties")
    if not isinstance(named, dict):
        return prepared
    if COMBINATIONS & prepared.keys():
        raise ValueError(named)
    if prepared.setdefault("additionalProperties", False) is False and isinstance(prepared.get("required"), list):
        prepared["required"] = [name for name in named if name in cast(list[str], prepared["required"])]
    return prepared


def _known_type(value: object) -> object:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name in TYPES for name in names):
        raise ValueError(value)
    return value


def _choices(value: object) -> object:
    if not isinstance(value, list) or not value:
        raise ValueError(value)
    return value


def _names(value: object) -> object:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return value


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _anchored(value: object) -> object:
    if not isinstance(value, str) or not (value.startswith("^") and value.endswith("$")):
        raise ValueError(value)
    return value


def _check_bounds(schema: Mapping[str, Any]) -> None:
    for low, high in BOUNDS.items():
        if low in schema and high in schema and schema[low] > schema[high]:
            raise ValueError(low)


def _check_choices(schema: Mapping[str, Any]) -> None:
    if "type" not in schema:
        return
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    allowed = tuple(kind for name in types for kind in TYPES[name])
    choices = [*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])]
    if any(type(choice) not in allowed for choice in choices):
        raise ValueError(choices)
