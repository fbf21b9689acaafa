"""The JSON Schema of a rule file, generated from the models that load it."""

from __future__ import annotations

from typing import Any

from analyzer.rulebook.conditions import CONDITIONS
from analyzer.rulebook.conditions.base import Condition
from analyzer.rulebook.model import RuleSpec

PARAMETER = {"type": "string", "pattern": r"^\$[a-z][a-z0-9_]*$", "description": "a parameter"}


def json_schema() -> dict[str, Any]:
    """Draft 2020-12; `when` is the closed set of conditions, joined by all, any and not."""
    schema = RuleSpec.model_json_schema(by_alias=True)
    schema.setdefault("$defs", {}).update(condition_definitions())
    schema["properties"]["when"] = {"$ref": "#/$defs/when"}
    return titled(schema, "A rule of the run analyzer")


def condition_definitions() -> dict[str, Any]:
    """`when`, and what it is made of, for the `$defs` of a schema."""
    definitions: dict[str, Any] = {}
    for condition in CONDITIONS:
        inside = condition.model_json_schema(by_alias=True)
        definitions.update(inside.pop("$defs", {}))
        definitions[f"condition-{condition.kind}"] = _with_parameters(inside, condition)
    return {**definitions, "when": _when()}


def titled(schema: dict[str, Any], title: str) -> dict[str, Any]:
    """The schema as a document of its own."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **{key: value for key, value in schema.items() if key != "title"},
    }


def _with_parameters(schema: dict[str, Any], condition: type[Condition]) -> dict[str, Any]:
    """Where a number stands, `$name` of a parameter may stand as well."""
    for name, entry in schema.get("properties", {}).items():
        schema["properties"][name] = _or_parameter(entry)
    schema["description"] = (condition.__doc__ or "").strip().splitlines()[0]
    return schema


def _or_parameter(entry: Any) -> Any:
    """The same shape with a parameter allowed for every number in it."""
    if isinstance(entry, list):
        return [_or_parameter(item) for item in entry]
    if not isinstance(entry, dict):
        return entry
    if entry.get("type") in ("number", "integer"):
        outer = {key: entry[key] for key in ("description", "title", "default") if key in entry}
        inner = {key: value for key, value in entry.items() if key not in outer}
        return {"anyOf": [inner, PARAMETER], **outer}
    inside = ("anyOf", "items", "prefixItems")
    return {key: _or_parameter(v) if key in inside else v for key, v in entry.items()}


def _when() -> dict[str, Any]:
    kinds = {c.kind: {"$ref": f"#/$defs/condition-{c.kind}"} for c in CONDITIONS}
    children = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/when"}}
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            "all": children,
            "any": children,
            "not": {"$ref": "#/$defs/when"},
            **kinds,
        },
    }
