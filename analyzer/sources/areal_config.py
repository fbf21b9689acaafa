"""AReaL's configuration as it saves it: YAML, flattened to dotted keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from analyzer.errors import Location, RunError
from analyzer.sources.config_rows import config_chunks, flattened
from analyzer.sources.opening import CutArchiveError, open_log
from analyzer.sources.records import Facts, Kin, Reading, Resume, Role

_TOP_LEVEL = re.compile(rb"^([A-Za-z_]\w*):", re.MULTILINE)
_AREAL_KEYS = frozenset(
    b"actor allocation_mode async_training cluster critic evaluator experiment_name gconfig"
    b" launcher recover ref rollout saver sglang stats_logger tokenizer_path total_train_epochs"
    b" train_dataset trial_name valid_dataset vllm".split()
)
_ENOUGH_KEYS = 3

_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_DEEPEST = 32  # references that lead to references


class ArealConfig:
    """The reader of configurations; a row is a dotted key and its value as JSON."""

    format = "areal-config"
    describes = "AReaL configuration (config.yaml)"
    digits = 17
    appends = False
    role: Role = "config"
    reads = "all keys, references within the file resolved, secrets masked"
    leaves = "references to environment variables"
    tested = "AReaL 2025-11 to 2026-08"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Are there enough of AReaL's own keys at the top level?"""
        return len(_AREAL_KEYS.intersection(_TOP_LEVEL.findall(head))) >= _ENOUGH_KEYS

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """One row a leaf, secrets masked, references within the file resolved.

        Raises RunError for a file that is no YAML mapping, with line and column.
        """
        config = _load(path)
        rows = flattened(_resolve(config, config))
        return Reading(config_chunks(rows), facts=_facts(rows))


class _Lenient(SafeConstructor):
    """Tags of Python objects, as an enumeration leaves them, become plain data."""

    def plain(self, node: Node) -> Any:
        """What the node holds, without its tag."""
        if isinstance(node, MappingNode):
            return self.construct_mapping(node, deep=True)
        if isinstance(node, SequenceNode):
            return self.construct_sequence(node, deep=True)
        return self.construct_scalar(node) if isinstance(node, ScalarNode) else None


_Lenient.add_constructor(None, _Lenient.plain)


def _load(path: Path) -> dict[Any, Any]:
    yaml = YAML(typ="safe", pure=False)  # the C parser where there is one
    yaml.Constructor = _Lenient
    try:
        config = yaml.load(b"".join(open_log(path).blocks()))
    except MarkedYAMLError as cause:
        mark = cause.problem_mark or cause.context_mark
        at = Location(str(path), mark.line + 1, mark.column + 1) if mark else Location(str(path))
        what = (cause.problem or cause.context or "").partition(" with value")[0]
        raise RunError(f"no valid YAML: {what}", at=at) from cause
    except (YAMLError, CutArchiveError, UnicodeError) as cause:
        what = str(cause).strip().partition("\n")[0]
        raise RunError(f"no valid YAML: {what}", at=Location(str(path))) from cause
    if not isinstance(config, dict):
        raise RunError("no configuration: its top level is no mapping", at=Location(str(path), 1))
    return config


def _resolve(value: Any, config: dict[Any, Any], depth: int = 0) -> Any:
    """`${a.b}` replaced by what the file says; what leads nowhere stays as it is."""
    if isinstance(value, dict):
        return {key: _resolve(inner, config, depth) for key, inner in value.items()}
    if isinstance(value, list):
        return [_resolve(inner, config, depth) for inner in value]
    if not isinstance(value, str) or "${" not in value or depth > _DEEPEST:
        return value
    whole = _REFERENCE.fullmatch(value)
    if whole:
        found, target = _look_up(whole[1], config)
        return _resolve(target, config, depth + 1) if found else value

    def part(match: re.Match[str]) -> str:
        found, target = _look_up(match[1], config)
        if not found or isinstance(target, dict | list):
            return match[0]
        inner = _resolve(target, config, depth + 1)
        return inner if isinstance(inner, str) else json.dumps(inner)

    return _REFERENCE.sub(part, value)


def _look_up(dotted: str, config: dict[Any, Any]) -> tuple[bool, Any]:
    value: Any = config
    for key in dotted.split("."):
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _facts(rows: dict[str, str]) -> Facts:
    def text(key: str) -> str | None:
        value = json.loads(rows.get(key, "null"))
        return value if isinstance(value, str) and value else None

    total = json.loads(rows.get("total_train_steps", "null"))
    return Facts(
        framework="areal",
        experiment=text("experiment_name"),
        trial=text("trial_name"),
        total_steps=total if type(total) is int else None,
    )
