"""What one `record()` costs the thread that trains, and what a batch takes on disk.

    python bench/replay_recorder.py

The batch is in main memory; one on a GPU adds its way over the bus, and nothing else. Writing goes
on in another thread meanwhile; each call waits until the batch before has been written, so that
none is dropped. The median of nine calls is what docs/recording.md quotes.
"""

from __future__ import annotations

import platform
import statistics
import tempfile
import time
from pathlib import Path

CALLS = 9
SIZES = ((64, 2048), (512, 4096), (512, 16384))
MB = 2**20


def main() -> None:
    """Prints the table."""
    try:
        import safetensors  # noqa: F401
        import torch
    except ImportError as cause:
        print(f"recorder: not measured, {cause.name} is not installed")
        return
    print(f"Recorder.record, Python {platform.python_version()}, torch {torch.__version__}")
    print(f"{'rows':>5} {'tokens':>7} {'median ms':>10} {'slowest':>8} {'written MB':>11}")
    for rows, width in SIZES:
        times, size = measure(rows, width)
        print(
            f"{rows:>5} {width:>7} {statistics.median(times):>10.1f} {max(times):>8.1f} "
            f"{size / MB:>11.1f}"
        )


def measure(rows: int, width: int) -> tuple[list[float], int]:
    """Milliseconds of each call, and the bytes of one batch on disk."""
    from analyzer.replay.recorder import Recorder

    times = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recorder = Recorder(folder, every=1, disk_budget=2**40)
        batch = batch_of(rows, width)
        for step in range(CALLS):
            start = time.perf_counter()
            recorder.record(batch, {"kl_ctl": 0.0}, step, version=step)
            times.append((time.perf_counter() - start) * 1000)
            final = folder / f"step_{step:08}"
            while not final.exists() and not recorder.dropped:
                time.sleep(0.005)
            if recorder.dropped:
                raise SystemExit("a batch was dropped; see above")
            size = sum(path.stat().st_size for path in final.iterdir())
            for path in final.iterdir():
                path.write_bytes(b"")
        recorder.close()
    return times, size


def batch_of(rows: int, width: int) -> dict[str, object]:
    """A batch of decoupled PPO, every row as long as the batch is wide."""
    import torch

    ones = torch.ones(rows, width)
    return {
        "input_ids": ones.long(),
        "attention_mask": ones.bool(),
        "loss_mask": ones.int(),
        "versions": ones.int(),
        "logprobs": -ones,
        "prox_logp": -ones,
        "rewards": torch.zeros(rows),
    }


if __name__ == "__main__":
    main()
