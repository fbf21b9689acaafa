"""The JSON Schema of a procedure file, generated from the models that load it."""

from __future__ import annotations

from typing import Any

from analyzer.compare.procedure_spec import OTHERWISE, ProcedureSpec
from analyzer.rulebook.schema import condition_definitions, titled


def procedure_schema() -> dict[str, Any]:
    """Draft 2020-12; `yes` and `no` are conditions as in a rule."""
    schema = ProcedureSpec.model_json_schema(by_alias=True)
    schema["$defs"].update(condition_definitions())
    evidence = schema["$defs"]["EvidenceSpec"]["properties"]
    when = {"$ref": "#/$defs/when"}
    for name in ("only_if", "yes"):
        evidence[name] = {**when, "description": evidence[name]["description"]}
    evidence["no"] = {
        "anyOf": [when, {"const": OTHERWISE}],
        "description": evidence["no"]["description"],
    }
    return titled(schema, "A procedure of the run analyzer")
