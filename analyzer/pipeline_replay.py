"""The flow of `replay`: a recorded batch, recomputed."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import RunError


def replay_bundle(bundle: Path, conventions: str, form: str, tensors: Path | None = None) -> str:
    """Recompute the batch recorded in a folder; what to print, `form` being json or text.

    The tensors are written where `tensors` says. Raises RunError for a batch that cannot be read,
    and where torch is not installed.
    """
    _need_torch()
    from analyzer.replay.bundle import read_bundle
    from analyzer.replay.insights import insights
    from analyzer.replay.output import as_json, as_text, write_tensors
    from analyzer.replay.stage0 import replay_batch

    recorded = read_bundle(bundle)
    chosen = recorded.conventions(conventions)
    found = replay_batch(recorded, chosen)
    if tensors is not None:
        write_tensors(found, tensors)
    if form == "json":
        return as_json(found)
    return as_text(found, insights(recorded, found, chosen), chosen)


def _need_torch() -> None:
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError as cause:
        raise RunError(
            f"a replay needs {cause.name or 'torch'}, which is not installed",
            hint="pip install 'rl-run-analyzer[replay]'",
        ) from None
