"""What to record next time: lines to paste into the trainer. Needs no torch."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.replay.question import Question
from analyzer.tables.run import RunTables

EVERY = 10  # steps between two recordings
IN_A_WINDOW = 4  # recordings that should fall into the shortest finding

_MADE = """\
from analyzer.replay.recorder import Recorder

# PPOActor.__init__; meta has the token ids of {tokenizer}
self.recorder = Recorder(
    "recorded",  # below the run's directory, by its full path
    every={every},
    framework={framework},
    framework_version={version},
    sampling={sampling},
    trainer={trainer},
    meta={{"eos_token_id": None, "pad_token_id": None}},
)
"""
_RECORDED = """
# PPOActor.ppo_update, as its first lines; checkpoints={{version: folder}} tells old weights from
# precision where the run keeps them
version = self.engine.get_version()
if self.engine.is_data_parallel_head():
    self.recorder.record(data, self.config, step=version, version=version{part})
"""
_PART = """
# This run has {ranks} data-parallel ranks: make the recorder at the first call of ppo_update, with
# f"recorded/rank{{self.engine.data_parallel_rank}}" as its folder, and give it
rows = sum(len(trajectory["rewards"]) for trajectory in data)
part = (self.engine.data_parallel_rank * rows, self.engine.data_parallel_world_size * rows)
"""


def record_next(tables: RunTables, questions: Sequence[Question]) -> str:
    """The recorder's lines with this run's own values; None stands where the run tells none."""
    manifest = tables.manifest
    ranks = tables.fact("padding_groups")
    # Without a configuration that number is a guess from the log.
    several = ranks is not None and " = " in ranks[1] and ranks[0] > 1.5
    lines = _MADE.format(
        every=_every(questions),
        tokenizer=_value(tables, "tokenizer_path", "actor.path") or "the tokenizer",
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
    if several and ranks is not None:
        lines += _PART.format(ranks=f"{ranks[0]:.0f}")
    return lines + _RECORDED.format(part=", part=part" if several else "")


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
