"""Log-probs of given tokens against the bare matrix product of the same shape.

    python bench/replay_logprobs.py [--save] [--threads N] [--rounds N]

The target is 0.85 of the product's speed. Each round runs every way once, one after the other, so
that other work on the machine hits all of them; what is quoted is the median over the rounds of the
ratio within a round. With one thread the time is that thread's own (CPU seconds), which other work
disturbs least; with all threads, and on a GPU, it is wall time. A second table compares tokens per
second through a whole model with the way over full logits.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results" / "replay_logprobs.json"
HIDDEN, VOCABULARY = 896, 151_936  # Qwen2.5-0.5B's
POSITIONS = {"cpu": 1024, "cuda": 8192}
ROUNDS = {"cpu": 5, "cuda": 20}
# Layers, rows and tokens a row of the model in the second table.
MODEL = {"cpu": (2, 4, 64), "cuda": (24, 8, 1024)}

Ways = dict[str, Callable[[], object]]


def seconds(ways: Ways, rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """The times of each way, round by round, after one that does not count."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            start = clock()
            way()
            if number:
                found[name].append(clock() - start)
    return found


def head_ways(torch: Any, device: Any, dtype: Any) -> Ways:
    """What becomes of hidden states, each way on the same ones."""
    from analyzer.replay.model.head import Head
    from analyzer.replay.model.logprobs import token_values
    from analyzer.replay.model.settings import Settings

    torch.manual_seed(0)
    positions = POSITIONS[device.type]
    weight = (0.02 * torch.randn(VOCABULARY, HIDDEN)).to(device, dtype)
    hidden = torch.randn(positions, HIDDEN).to(device, dtype)
    labels = torch.randint(0, VOCABULARY, (positions,)).to(device)
    whole = torch.empty(positions, VOCABULARY, dtype=dtype, device=device)
    head = Head(weight)

    def full() -> object:
        logits = torch.mm(hidden, weight.t()).float()
        return torch.log_softmax(logits, -1).gather(-1, labels[:, None])

    return {
        "bare product": lambda: torch.mm(hidden, weight.t(), out=whole),
        "log-probs": lambda: token_values(head, hidden, labels, Settings(entropy=False)),
        "log-probs and entropy": lambda: token_values(head, hidden, labels, Settings()),
        "full logits": full,
    }


def model_ways(torch: Any, device: Any, dtype: str) -> tuple[Ways, int]:
    """Log-probs of some rows through a random model, ours and over full logits; and the tokens."""
    import transformers

    from analyzer.replay.model.checkpoint import Checkpoint
    from analyzer.replay.model.head import head_of
    from analyzer.replay.model.settings import Settings
    from analyzer.replay.model.stage1 import recompute

    layers, rows, width = MODEL[device.type]
    config = transformers.Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=4864,
        num_hidden_layers=layers,
        num_attention_heads=14,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    made: Any = transformers.AutoModelForCausalLM
    model = made.from_config(config).to(device, getattr(torch, dtype)).eval()
    head = head_of(model)
    assert head is not None
    checkpoint = Checkpoint(Path("random"), model, head, device, dtype)  # type: ignore[arg-type]
    ids = torch.randint(0, VOCABULARY, (rows, width))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    settings = Settings(dtype=dtype, device=device.type, entropy=False)  # type: ignore[arg-type]

    def full() -> object:
        with torch.no_grad():
            on = ids.to(device)
            logits = model(input_ids=on, use_cache=False).logits[:, :-1].float()
            return torch.log_softmax(logits, -1).gather(-1, on[:, 1:, None]).cpu()

    ways: Ways = {"ours": lambda: recompute(batch, checkpoint, settings), "full logits": full}
    return ways, rows * width


def clocks(torch: Any, device: Any, only: int | None) -> list[tuple[int, str, Callable[[], float]]]:
    """Threads, what the clock is called, and the clock."""
    cores = os.cpu_count() or 1
    if device.type == "cuda":

        def wall() -> float:
            torch.cuda.synchronize()
            return time.perf_counter()

        return [(cores, "wall", wall)]
    every = [(1, "CPU", time.thread_time), (cores, "wall", time.perf_counter)]
    return [one for one in every if only in (None, one[0])]


def measure(torch: Any, only: int | None, rounds: int | None) -> dict[str, Any]:
    """All of it, printed as it comes; `only` that many threads, where it is given."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = "bfloat16" if device.type == "cuda" else "float32"
    rounds = rounds or ROUNDS[device.type]
    shape = [POSITIONS[device.type], HIDDEN, VOCABULARY]
    print(f"{device}, {dtype}, [{shape[0]},{HIDDEN}] x [{HIDDEN},{VOCABULARY}], {rounds} rounds")
    found: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "cores": os.cpu_count(),
        "dtype": dtype,
        "shape": shape,
        "rounds": rounds,
        "torch": torch.__version__,
        "load_before": os.getloadavg()[0],
        "head": [],
        "model": [],
    }
    ways = head_ways(torch, device, getattr(torch, dtype))
    for threads, kind, clock in clocks(torch, device, only):
        torch.set_num_threads(threads)
        times = seconds(ways, rounds, clock)
        base = times["bare product"]
        for name, own in times.items():
            ratios = sorted(b / a for a, b in zip(own, base, strict=True))
            row = {
                "threads": threads,
                "clock": kind,
                "way": name,
                "seconds": round(statistics.median(own), 4),
                "of_product": round(statistics.median(ratios), 3),
                "slowest_round": round(ratios[0], 3),
                "fastest_round": round(ratios[-1], 3),
            }
            found["head"].append(row)
            print(
                f"  {threads} threads  {name:<22} {row['seconds']:>8.3f} s {kind:<4}  "
                f"{row['of_product']:.3f} of the product ({ratios[0]:.3f} to {ratios[-1]:.3f})",
                flush=True,
            )
    del ways
    ways, tokens = model_ways(torch, device, dtype)
    threads, kind, clock = clocks(torch, device, only)[0]
    torch.set_num_threads(threads)
    times = seconds(ways, min(5, rounds), clock)
    layers, rows, width = MODEL[device.type]
    print(f"a model of {layers} layers, {rows} rows of {width} tokens")
    for name, own in times.items():
        rate = tokens / statistics.median(own)
        found["model"].append({"way": name, "clock": kind, "tokens_per_second": round(rate, 1)})
        print(f"  {threads} threads  {name:<22} {rate:>10,.1f} tokens/s ({kind})")
    found["load_after"] = os.getloadavg()[0]
    print(
        f"load of the machine: {found['load_before']:.1f} before, {found['load_after']:.1f} after"
    )
    return found


def main() -> None:
    """Prints the tables; with --save also writes bench/results/replay_logprobs.json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    choices = sorted({1, os.cpu_count() or 1})
    parser.add_argument("--threads", type=int, choices=choices, help="measure with that many only")
    parser.add_argument("--rounds", type=int, help="how often each way is run")
    asked = parser.parse_args()
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as cause:
        print(f"replay_logprobs: {cause.name} is not installed, nothing measured", file=sys.stderr)
        return
    found = measure(torch, asked.threads, asked.rounds)
    if asked.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
