"""Lines as programs write them, and the event that each one is."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzer.sources.areal_lines import split_line
from analyzer.sources.event_patterns import ANY_NEEDLE, Found, event_of

T = "20261129-14:58:07.185"

EVENTS = [
    (
        f"(AReaL) {T} [FSDPEngine Rank 0] WARNING: microbatch #splits 4 exceeds the limit",
        ("WARNING", "[FSDPEngine Rank 0]", "microbatch #splits 4 exceeds the limit"),
    ),
    (f"{T} Reward API ERROR: Max retries: 3", ("ERROR", "Reward API", "Max retries: 3")),
    (
        f"{T} /opt/AReaL/areal/utils/device.py CRITICAL: gone",
        ("CRITICAL", "/opt/AReaL/areal/utils/device.py", "gone"),
    ),
    (
        "[rank0]:[W1115 23:13:03.838416758 ProcessGroupNCCL.cpp:1538] Warning: leaks",
        ("WARNING", "ProcessGroupNCCL.cpp", "Warning: leaks"),
    ),
    (
        "[rank3]:[E1115 23:13:03.838 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective"
        " operation timeout",
        (
            "ERROR",
            "ProcessGroupNCCL.cpp",
            "[Rank 3] Watchdog caught collective operation timeout",
        ),
    ),
    (
        "[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught"
        " collective operation timeout: WorkNCCL(SeqNum=1580)",
        (
            "ERROR",
            "ProcessGroupNCCL.cpp",
            "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580)",
        ),
    ),
    (
        "[E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog caught collective operation timeout",
        (
            "ERROR",
            "console",
            "[E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog caught collective operation timeout",
        ),
    ),
    (
        "E1115 23:13:04.603000 965 torch/distributed/elastic/multiprocessing/api.py:874] failed"
        " (exitcode: 1)",
        ("ERROR", "torch/distributed/elastic/multiprocessing/api.py", "failed (exitcode: 1)"),
    ),
    (
        "/usr/lib/python3/torch/cuda/__init__.py:63: FutureWarning: pynvml is deprecated",
        (
            "WARNING",
            "python",
            "/usr/lib/python3/torch/cuda/__init__.py:63: FutureWarning: pynvml is deprecated",
        ),
    ),
    (
        "<frozen importlib._bootstrap>:241: DeprecationWarning: old",
        ("WARNING", "python", "<frozen importlib._bootstrap>:241: DeprecationWarning: old"),
    ),
    ("wandb: WARNING Changes are ignored", ("WARNING", "wandb", "Changes are ignored")),
    ("wandb: ERROR api_key not configured", ("ERROR", "wandb", "api_key not configured")),
    (
        "WARNING: Running pip as the 'root' user",
        ("WARNING", "console", "Running pip as the 'root' user"),
    ),
    ("WARNING:root:careful", ("WARNING", "root", "careful")),
    ("ERROR:asyncio:Task exception", ("ERROR", "asyncio", "Task exception")),
    (
        "WARNING 05-06 07:59:41 config.py:542] Casting float32",
        ("WARNING", "console", "05-06 07:59:41 config.py:542] Casting float32"),
    ),
    (
        "2026-11-29 14:58:07,185 - trl.trainer - WARNING - no labels",
        ("WARNING", "trl.trainer", "no labels"),
    ),
    ("[2026-11-29 14:58:07] ERROR queue is full", ("ERROR", "console", "queue is full")),
    ("Killed", ("ERROR", "console", "Killed")),
    (
        "./run.sh: line 12:  1234 Killed                  python train.py",
        ("ERROR", "console", "./run.sh: line 12:  1234 Killed                  python train.py"),
    ),
    (
        "[ 812.1] Out of memory: Killed process 4711 (python) total-vm:1kB",
        ("ERROR", "console", "[ 812.1] Out of memory: Killed process 4711 (python) total-vm:1kB"),
    ),
    (
        "CUDA error: an illegal memory access was encountered",
        ("ERROR", "console", "CUDA error: an illegal memory access was encountered"),
    ),
    (
        "node1:12:34 [0] NCCL WARN Call failed",
        ("ERROR", "console", "node1:12:34 [0] NCCL WARN Call failed"),
    ),
    (
        f"{T} Local Scheduler INFO: Stopping local process with signal SIGTERM, pid: [159]",
        ("INFO", "Local Scheduler", "Stopping local process with signal SIGTERM, pid: [159]"),
    ),
    (
        f"{T} StatsLogger INFO: Training completes! Total time elapsed 20.65.",
        ("INFO", "StatsLogger", "Training completes! Total time elapsed 20.65."),
    ),
    (
        f"{T} Recover INFO: Recovering from StepInfo(epoch=1, epoch_step=2).",
        ("INFO", "Recover", "Recovering from StepInfo(epoch=1, epoch_step=2)."),
    ),
    (
        f"{T} PPOActor INFO: Mode: Decoupled PPO (off-policy)",
        ("INFO", "PPOActor", "Mode: Decoupled PPO (off-policy)"),
    ),
]

NO_EVENTS = [
    f"{T} WorkflowExecutor INFO: Submit->Complete->Accepted: task 73370 reward 1.0",
    f"{T} PPOActor INFO: {'=' * 70}",
    f"{T} Reward API INFO: Retrying after ERROR (attempt 1/4)",
    f"{T} W DEBUG: WARNING is a word here",
    "Loading safetensors checkpoint shards: 100% Completed | 1/1 [00:01<00:00,  1.42s/it]",
    "The model says: there was an ERROR in the second step, so we try again.",
    "2026-11-29 14:58:07,185 - trainer - INFO - after the WARNING all went well",
    "I1115 23:13:04.603000 965 torch/a.py:874] fine",
    "Killed the process that was in the way",
    "to avoid out-of-memory errors, use less",
    "File.py:12: note",
    "  warnings.warn(",
    "WarningsAreFine: Warning",
    "",
]


@pytest.mark.parametrize(("line", "expected"), EVENTS, ids=[line[:40] for line, _ in EVENTS])
def test_an_event_and_what_it_says(line: str, expected: tuple[str, str, str]) -> None:
    raw = line.encode()
    assert ANY_NEEDLE.search(raw), "the scan would pass over this line"
    found = event_of(split_line(raw).body)
    assert found is not None
    assert (found.level, found.logger, found.message) == expected


@pytest.mark.parametrize("line", NO_EVENTS)
def test_a_line_that_is_no_event(line: str) -> None:
    assert event_of(split_line(line.encode()).body) is None


def test_the_clock_of_a_record_is_kept() -> None:
    assert event_of(f"{T} A WARNING: b".encode()) == Found("WARNING", "A", "b", T.encode())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300))
@example(b"[" * 100_000)
@example(b"a" * 100_000 + b": Warning: ")
@example(b"a." * 50_000 + b": Warning")
@example(b"2026-11-29 14:58:07" + b" " * 100_000 + b"WARNING")
@example(b"20261129-14:58:07.185 " + b"x " * 50_000 + b"INFO:")
@example(b"Successfully installed " + b"a-1 " * 30_000)
def test_any_bytes_are_judged_without_an_error(raw: bytes) -> None:
    event_of(split_line(raw).body)
