"""The flow of `replay`: a recorded batch, recomputed."""

from __future__ import annotations

from pathlib import Path

from analyzer.errors import Location, RunError


def replay_bundle(bundle: Path, conventions: str, form: str, tensors: Path | None = None) -> str:
    """Recompute the batch recorded in a folder; what to print, `form` being json or text.

    Of a dump that a trainer wrote, what can be said without its configuration. The tensors are
    written where `tensors` says. Raises RunError for a batch that cannot be read, and where torch
    is not installed.
    """
    _need_torch()
    from analyzer.replay.dumps.readers import is_dump

    if is_dump(bundle):
        return _replay_dump(bundle, conventions, form, tensors)
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


def _replay_dump(path: Path, conventions: str, form: str, tensors: Path | None) -> str:
    from analyzer.replay import output
    from analyzer.replay.dumps import output as dump_output
    from analyzer.replay.dumps.readers import read_dump
    from analyzer.replay.dumps.summary import summary
    from analyzer.replay.insights import insights
    from analyzer.replay.stage0 import replay_batch

    dump = read_dump(path)
    said = summary(dump)
    plain, text = dump_output.document(dump, said), "\n".join(dump_output.lines(dump, said)) + "\n"
    if dump.bundle is not None:
        chosen = dump.bundle.conventions(conventions)
        found = replay_batch(dump.bundle, chosen)
        plain |= output.document(found)
        text += output.as_text(found, insights(dump.bundle, found, chosen), chosen)
        if tensors is not None:
            output.write_tensors(found, tensors)
    elif tensors is not None:
        raise RunError(
            f"allows no tensors to be recomputed: {dump.lacks['stage-0']}",
            at=Location(str(path)),
            hint="leave out --tensors",
        )
    return output.to_json(plain) if form == "json" else text


def _need_torch() -> None:
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError as cause:
        raise RunError(
            f"a replay needs {cause.name or 'torch'}, which is not installed",
            hint="pip install 'rl-run-analyzer[replay]'",
        ) from None
