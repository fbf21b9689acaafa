"""Events of whole texts: folded, placed, masked."""

from __future__ import annotations

from pathlib import Path

import pytest
from areal_log import OUTER, ArealLog, Style, five
from reading import Got, read

from analyzer.sources.areal_text import ArealText
from analyzer.sources.events import MOST_EVENTS
from analyzer.sources.masking import mask_secrets, without_numbers

PLAIN = Style(header=False, colours=False)


def got(tmp_path: Path, log: ArealLog) -> Got:
    path = tmp_path / "main.log"
    path.write_bytes(log.text())
    return read(ArealText(), path)


def brief(result: Got) -> list[tuple[int, int | None, str, str, int, int]]:
    return [
        (e["attempt"], e["step"], e["logger"], e["message"], e["repeats"], e["line"])
        for e in result.events
    ]


def test_equal_messages_of_an_attempt_are_one_row(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).step(0, five(a=1))
    log.record("slow: 3.5 s at 0x7f0a", "[Rank 0]", "WARNING")
    log.record("slow: 12 s at 0x7f0b", "[Rank 1]", "WARNING")
    log.record("slow: 3.5 s at 0x7f0a", "[Rank 0]", "ERROR")
    assert brief(got(tmp_path, log)) == [
        (0, 1, "[Rank 0]", "slow: 3.5 s at 0x7f0a", 2, 7),
        (0, 1, "[Rank 0]", "slow: 3.5 s at 0x7f0a", 1, 9),
    ]


def test_an_event_stands_at_the_step_that_was_worked_on(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("before any", "A", "ERROR").step(0, five(a=1), total=2)
    log.record("in the second", "A", "ERROR").announce(1, 2, 1).record("its end", "A", "ERROR")
    log.stats(five(a=1)).record("after the last", "A", "ERROR")
    assert [row[1] for row in brief(got(tmp_path, log))] == [None, 1, 1, 1]


def test_what_follows_a_sign_of_a_start_belongs_to_the_new_attempt(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).step(0, five(a=1)).step(1, five(a=1)).record("crash", "T", "ERROR")
    log.record("Recovered from step 1", "T").record("slow", "W", "WARNING")
    log.step(1, five(a=1)).record("slow", "W", "WARNING")
    assert brief(got(tmp_path, log)) == [
        (0, 2, "T", "crash", 1, 13),
        (1, None, "T", "Recovered from step 1", 1, 14),
        (1, None, "W", "slow", 2, 15),
    ]


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_start_that_goes_on_without_going_back_is_no_attempt(
    tmp_path: Path, goes_on: bool
) -> None:
    log = ArealLog(PLAIN).step(0, five(a=1)).record("slow", "W", "WARNING")
    log.record("Recovered from step 1", "T").record("slow", "W", "WARNING")
    if goes_on:
        log.step(1, five(a=1))
    assert brief(got(tmp_path, log)) == [
        (0, 1, "W", "slow", 2, 7),
        (0, 1, "T", "Recovered from step 1", 1, 8),
    ]


TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/a/train.py", line 296, in <module>',
    "    main(sys.argv[1:])",
    "    ^^^^^^^^^^^^^^^^^^",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.45 GiB.",
)
OOM = f"{TRACEBACK[-1]} (in <module>, /a/train.py:296)"


def test_a_bare_traceback_is_its_last_line(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("go", "A").plain(*TRACEBACK).record("x", "A", "WARNING")
    assert brief(got(tmp_path, log)) == [
        (0, None, "traceback", OOM, 1, 2),
        (0, None, "A", "x", 1, 7),
    ]


def test_the_function_is_the_last_of_the_runs_own_code(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).plain(
        "Traceback (most recent call last):",
        '  File "/workspace/AReaL/areal/engine/ppo/actor.py", line 92, in compute_logp',
        "    return self.engine.forward(batch)",
        '  File "/usr/lib/python3/dist-packages/torch/nn/module.py", line 17, in _call',
        "    return forward_call(*args)",
        "RuntimeError: boom",
    )
    (row,) = brief(got(tmp_path, log.record("x", "A")))
    assert row[3] == "RuntimeError: boom (in compute_logp, engine/ppo/actor.py:92)"


def test_a_traceback_of_each_rank_with_a_containers_time(tmp_path: Path) -> None:
    log = ArealLog(Style(outer=f"{OUTER} ")).record("go", "A")
    for line in TRACEBACK:
        log.plain(f"[rank0]: {line}", f"[rank1]: {line}", "Loading shards: 50%")
    result = got(tmp_path, log)
    assert brief(result) == [(0, None, "traceback", OOM, 2, 2)]
    assert result.events[0]["wall_time"].isoformat() == "2026-11-29T06:58:07.185123+00:00"


def test_a_traceback_that_a_logger_wrote(tmp_path: Path) -> None:
    log = ArealLog(Style(worker="[main]    ", colours=False))
    log.record("Task 3 failed: " + "\n".join(TRACEBACK), "Workflow", "ERROR")
    log.record("\n".join(TRACEBACK), "Workflow", "ERROR")
    assert [(row[2], row[4]) for row in brief(got(tmp_path, log))] == [
        ("Workflow", 1),
        ("traceback", 2),
    ]


def test_an_exception_group_and_what_it_holds(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("go", "A")
    log.plain(
        "  + Exception Group Traceback (most recent call last):",
        '  |   File "/a.py", line 1, in <module>',
        "  | ExceptionGroup: two (1 sub-exception)",
        "  +-+---------------- 1 ----------------",
        "    | Traceback (most recent call last):",
        '    |   File "/a.py", line 9, in f',
        "    | KeyError: 'x'",
        "    +------------------------------------",
    )
    assert [row[3] for row in brief(got(tmp_path, log))] == [
        "ExceptionGroup: two (1 sub-exception) (in <module>, /a.py:1)",
        "KeyError: 'x' (in f, /a.py:9)",
    ]


def test_a_traceback_that_breaks_off_says_where(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("go", "A").plain(*TRACEBACK[:3])
    assert brief(got(tmp_path, log)) == [
        (0, None, "traceback", "traceback breaks off: main(sys.argv[1:])", 1, 2)
    ]


def test_a_traceback_is_given_up_after_many_lines(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("go", "A").plain(TRACEBACK[0], *["noise without end"] * 1200)
    log.plain("KeyError: late")
    assert [row[3] for row in brief(got(tmp_path, log))] == ["traceback breaks off"]


def test_a_message_is_cut_and_its_secrets_are_masked(tmp_path: Path) -> None:
    log = ArealLog(PLAIN).record("login api_key=abcdef0123 " + "x" * 3000, "A", "ERROR")
    (event,) = got(tmp_path, log).events
    assert event["message"].startswith("login api_key=*** xxx")
    assert len(event["message"]) == 2000


def test_more_different_events_than_are_kept(tmp_path: Path) -> None:
    log = ArealLog(PLAIN)
    letters = "abcdefghijklmnopqrst"
    for index in range(MOST_EVENTS + 10):
        name = "".join(letters[index // 20**place % 20] for place in range(4))
        log.record(f"no {name}", "A", "ERROR")
    result = got(tmp_path, log)
    assert len(result.events) == MOST_EVENTS
    assert [(n.kind, n.line) for n in result.notes] == [("events-left-out", MOST_EVENTS + 1)]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("WandB API key: e1adc5be02...", "WandB API key: ***"),
        ("WANDB_API_KEY=0123456789abcdef", "WANDB_API_KEY=***"),
        ("password='hunter22' ok", "password='***' ok"),
        ("client_secret: s3cr3t!x", "client_secret: ***"),
        ("token=abc123def456", "token=***"),
        ("hf_AbCdEfGhIjKlMn left", "*** left"),
        ("key sk-proj-abc123_DEF", "key ***"),
        ("Authorization: Bearer eyJhbGciOi.x", "Authorization: Bearer ***"),
        ("https://me:pa55@host/x", "https://me:***@host/x"),
        ("prompt token: 12345678", "prompt token: 12345678"),
        ("max_new_tokens=4096", "max_new_tokens=4096"),
        ("Unexpected token: }", "Unexpected token: }"),
        ("the task-skipping rule", "the task-skipping rule"),
    ],
)
def test_secrets_are_masked_and_nothing_else(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked


def test_numbers_do_not_make_messages_different() -> None:
    one = without_numbers("Process 371 has 26.30 GiB at 0x7fa0, commit deadbeef01, 1e-05")
    two = without_numbers("Process 286 has 4 GiB at 0xb, commit 0badcafe77, 2.5e+07")
    assert one == two == "Process # has # GiB at #, commit #, #"
