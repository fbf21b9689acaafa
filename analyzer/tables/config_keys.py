"""Configuration keys: AReaL's own, which rules speak of, and what other frameworks call them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from analyzer.errors import RuleError
from analyzer.strict_yaml import did_you_mean, load_document, validate
from analyzer.tables.evidence import ConfigValue
from analyzer.tables.metric_files import Strict


class ConfigKey(BaseModel):
    """A configuration key of AReaL."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    type: str = ""
    default: Any = None
    versions: tuple[str, ...] = Field(default=(), alias="in")
    removed: str | None = None
    also_written: str | None = None
    choices: tuple[Any, ...] = ()

    def misfit(self, value: object) -> str:
        """Why the key cannot have that value: "int, not true"; "" where it can.

        As AReaL's structured configuration takes it: a whole number is a float as well, true is no
        number.
        """
        kinds = [kind.strip() for kind in self.type.split("|")]
        if not any(_is_a(value, kind) for kind in kinds):
            return f"{self.type}, not {json.dumps(value)}"
        if self.choices and value not in self.choices:
            return f"one of {', '.join(json.dumps(c) for c in self.choices)}, not {value!r}"
        return ""


def _is_a(value: object, kind: str) -> bool:
    if value is None:
        return kind in ("None", "section?")
    if isinstance(value, bool):
        return kind == "bool"
    if isinstance(value, int):
        return kind in ("int", "float")
    names = {float: "float", str: "str", list: "list", dict: "dict"}
    return kind.partition("[")[0] == names.get(type(value))


class Quotient(Strict):
    """A key whose value is another one's, divided by its own."""

    key: str
    of: str


class DialectFile(Strict):
    """rules/config/<framework>.yaml"""

    framework: str
    command_line: str = Field(
        default="",
        description="how a setting is written as an argument, with {key}, {flag} (the key with "
        "dashes) and {value}; left out where it is not known",
    )
    same_as: dict[str, str | tuple[str, ...] | Quotient]


@dataclass(frozen=True)
class Dialect:
    """What one framework calls AReaL's keys, and how it takes settings as arguments."""

    framework: str
    same_as: dict[str, str | tuple[str, ...] | Quotient]
    command_line: str = ""

    def find(self, key: str, own: Callable[[str], ConfigValue | None]) -> ConfigValue | None:
        """The value of AReaL's `key`, where `own` gives that of the framework's own keys."""
        entry = self.same_as.get(key)
        if entry is None:
            return None
        if isinstance(entry, Quotient):
            return _divided(own(entry.of), own(entry.key), entry)
        names = (entry,) if isinstance(entry, str) else entry
        return next((found for name in names if (found := own(name)) is not None), None)

    def name_of(self, key: str) -> str | None:
        """The framework's own name for AReaL's `key`; None where it has no such thing."""
        entry = self.same_as.get(key)
        if isinstance(entry, Quotient):
            return entry.key
        return entry[0] if isinstance(entry, tuple) else entry


def _divided(
    whole: ConfigValue | None, part: ConfigValue | None, entry: Quotient
) -> ConfigValue | None:
    numbers = [v.value for v in (whole, part) if v is not None and isinstance(v.value, int | float)]
    if part is None or len(numbers) < 2 or not numbers[1]:
        return None
    quotient = numbers[0] / numbers[1]
    value = int(quotient) if quotient % 1 == 0 else quotient
    return ConfigValue(value, part.source, f"{entry.of} / {entry.key}", entry.key, numbers[0])


def areal_keys(rules_dir: Path) -> dict[str, ConfigKey]:
    """Every key that AReaL knows or knew, by its dotted name."""
    keys: dict[str, ConfigKey] = {}
    for path in sorted((rules_dir / "config").glob("*.json")):
        data = json.loads(path.read_text("utf-8"))
        for key, entry in data["keys"].items():
            keys[key] = ConfigKey.model_construct(
                type=entry.get("type", ""),
                default=entry.get("default"),
                versions=tuple(entry.get("in", ())),
                removed=entry.get("removed"),
                also_written=entry.get("also_written"),
                choices=tuple(entry.get("choices", ())),
            )
            if "also_written" in entry:
                section = key.rpartition(".")[0]
                keys[f"{section}.{entry['also_written']}"] = keys[key]
    return keys


def load_dialects(
    rules_dir: Path, known: dict[str, ConfigKey], digest: hashlib._Hash
) -> tuple[dict[str, Dialect], list[RuleError]]:
    """The dialects by framework, AReaL's own without other names; every fault of their files."""
    dialects: dict[str, Dialect] = {}
    errors: list[RuleError] = []
    for path in sorted((rules_dir / "config").glob("*.json")):
        data = json.loads(path.read_text("utf-8"))
        framework = data["framework"].lower()
        dialects[framework] = Dialect(framework, {}, data.get("command_line", ""))
    for path in sorted((rules_dir / "config").glob("*.yaml")):
        document = load_document(path, f"{rules_dir.name}/config/{path.name}")
        digest.update(document.text.encode())
        file = None if document.errors else validate(DialectFile, document)
        for key in file.same_as if file else ():
            if key not in known:
                hint = did_you_mean(key, list(known))
                message = f"unknown configuration key {key!r}"
                document.errors.append(document.error(("same_as", key), message, hint))
        errors.extend(document.errors)
        if file is not None:
            framework = file.framework.lower()
            dialects[framework] = Dialect(framework, file.same_as, file.command_line)
    return dialects, errors
