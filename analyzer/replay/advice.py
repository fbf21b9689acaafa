"""What to record next time: lines to paste into the trainer. Needs no torch."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.replay.question import Question
from analyzer.tables.run import RunTables

EVERY = 10  # steps between two recordings
IN_A_WINDOW = 4  # recordings that should fall into the shortest finding

_LINES = """\
from analyzer.replay.recorder import Recorder

recorder = Recorder(
    "{folder}",
    every={every},
    framework={framework},
    framework_version={version},
    sampling={sampling},
    trainer={trainer},
)

# In ppo_update, on the whole batch before it is split into minibatches. Checkpoints are optional:
# policy version -> folder of a Hugging Face checkpoint; they separate stale weights from precision.
recorder.record(batch, config, step, version=version, checkpoints={{version: checkpoint}})

# When training ends.
recorder.close()
"""


def record_next(tables: RunTables, questions: Sequence[Question]) -> str:
    """The recorder's lines with this run's own values; None stands where the run tells none."""
    manifest = tables.manifest
    return _LINES.format(
        folder="recorded",
        every=_every(questions),
        framework=_quoted((manifest.framework or "areal").lower()),
        version=_quoted(manifest.framework_version),
        sampling=_dictionary(
            temperature=_value(tables, "gconfig.temperature"),
            top_p=_value(tables, "gconfig.top_p"),
            top_k=_top_k(tables),
            dtype=_value(tables, "sglang.dtype", "vllm.dtype"),
        ),
        trainer=_dictionary(
            dtype=_value(tables, "actor.dtype"),
            attention=_value(tables, "actor.attn_impl"),
        ),
    )


def _every(questions: Sequence[Question]) -> int:
    """Ten steps, or fewer where a finding is shorter than four such recordings."""
    lengths = [high - low + 1 for q in questions for low, high in q.windows]
    return max(1, min(EVERY, min(lengths, default=EVERY * IN_A_WINDOW) // IN_A_WINDOW))


def _value(tables: RunTables, *keys: str) -> object:
    for key in keys:
        found = tables.config(key)
        if found is not None:
            return found.value
    return None


def _top_k(tables: RunTables) -> object:
    """None for AReaL's default, which is larger than any vocabulary."""
    value = _value(tables, "gconfig.top_k")
    return None if isinstance(value, int) and value >= 1_000_000 else value


def _dictionary(**values: object) -> str:
    shown = ", ".join(f"{_quoted(key)}: {_quoted(value)}" for key, value in values.items())
    return "{" + shown + "}"


def _quoted(value: object) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)
