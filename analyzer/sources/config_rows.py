"""A configuration as rows: dotted keys and their values as JSON, secrets masked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from analyzer.sources.masking import MASK, mask_secrets
from analyzer.sources.records import CONFIG_ROWS, Chunk

_SECRET = re.compile(r"(?i)(?:api[_-]?key|token|passwd|password|secret|secret[_-]key)$")
_VARIABLE = re.compile(r"\$\{oc\.env:\w+(?:,\s*(?:null|''|\"\")?)?\}")

# Keys at the top of a framework's configuration that together no other one has.
_FRAMEWORKS: dict[str, frozenset[str]] = {
    "areal": frozenset(["experiment_name", "trial_name", "gconfig"]),
    "verl": frozenset(["actor_rollout_ref", "algorithm", "trainer"]),
    "trl": frozenset(["num_generations", "per_device_train_batch_size"]),
}


def framework_of(config: Mapping[Any, Any]) -> str | None:
    """Whose configuration this is, by its keys; None where they do not say."""
    return next((name for name, keys in _FRAMEWORKS.items() if keys <= config.keys()), None)


def flattened(config: Mapping[Any, Any]) -> dict[str, str]:
    """Dotted key → value as JSON text; lists and empty mappings are leaves."""
    return {key: _json(value) for key, value in _leaves(config, "")} if config else {}


def config_chunks(rows: Mapping[str, str]) -> Iterator[Chunk]:
    """The rows as a chunk; none where there are none."""
    if rows:
        columns = {"key": list(rows), "value": list(rows.values())}
        yield Chunk("config", pa.RecordBatch.from_pydict(columns, schema=CONFIG_ROWS))


def _leaves(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name))
        return
    yield key, _masked(value, key)


def _masked(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _masked(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, key) for inner in value]
    if _SECRET.search(key) and value not in (None, "") and not _names_variable(value):
        return MASK
    return mask_secrets(value) if isinstance(value, str) else value


def _names_variable(value: Any) -> bool:
    """`${oc.env:NAME}` says where a secret is, not what it is."""
    return isinstance(value, str) and _VARIABLE.fullmatch(value) is not None


def _json(value: Any) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    """JSON knows no infinity: such a number becomes its name."""
    if isinstance(value, dict):
        return {str(name): _finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
