"""Plan, progress and resume of stage 1."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import needs_transformers  # noqa: F401
import pytest
import torch
from tiny_lm import BATCH, DEVICE, FOLDER

from analyzer.errors import RunError
from analyzer.replay.model import stage1
from analyzer.replay.model.checkpoint import Checkpoint, open_checkpoint
from analyzer.replay.model.logprobs import TokenValues
from analyzer.replay.model.plan import Progress
from analyzer.replay.model.progress import progress_bar
from analyzer.replay.model.rows import MicroBatch, micro_batches, rows_of
from analyzer.replay.model.settings import Settings
from analyzer.replay.model.stage1 import recompute

WAY = Settings(device=DEVICE, tokens=80, chunk=2**14)
CURRENT, STALE = FOLDER / "ckpt_current", FOLDER / "ckpt_stale"
LENGTHS = BATCH["attention_mask"].sum(-1).tolist()


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The rows of every micro-batch that is computed, as they come."""
    found: list[tuple[int, ...]] = []
    real = stage1.compute

    def counted(part: MicroBatch, checkpoint: Checkpoint, settings: Settings) -> TokenValues:
        found.append(part.rows)
        return real(part, checkpoint, settings)

    monkeypatch.setattr(stage1, "compute", counted)
    return found


class Interrupted(Exception):
    """What a test breaks off with."""


def after(micro_batches_done: int) -> Callable[[Progress], None]:
    """Breaks off when so many are done."""

    def watch(progress: Progress) -> None:
        if progress.done == micro_batches_done:
            raise Interrupted

    return watch


def test_micro_batches_keep_to_the_budget_and_begin_with_the_longest_row() -> None:
    ids = torch.ones(6, 10, dtype=torch.int32)
    attention = torch.arange(10)[None] < torch.tensor([3, 10, 6, 0, 5, 1])[:, None]
    parts = micro_batches(rows_of(ids, attention, None), 10)
    # A row's last token predicts nothing that is asked for: 9, 5, 4 and 2 tokens go in.
    assert [part.rows for part in parts] == [(1,), (2, 4), (0,)]
    assert [tuple(part.ids.shape) for part in parts] == [(1, 9), (2, 5), (1, 2)]


def test_the_plan() -> None:
    found = recompute(BATCH, CURRENT, WAY).plan
    assert found.wanted == sum(length - 1 for length in LENGTHS)
    assert found.tokens >= found.wanted
    assert found.weights_bytes == sum(
        p.numel() * 4 for p in open_checkpoint(CURRENT, WAY).model.parameters()
    )
    assert found.logits_bytes == 2 * 4 * 2**14
    assert found.peak_bytes > found.weights_bytes + found.logits_bytes


def test_progress_from_nothing_to_all() -> None:
    seen: list[Progress] = []
    plan = recompute(BATCH, CURRENT, WAY, watch=seen.append).plan
    assert [progress.done for progress in seen] == list(range(plan.micro_batches + 1))
    assert seen[0].tokens == 0 and seen[0].seconds_left is None
    assert seen[1].seconds_left is not None and seen[1].seconds_left > 0
    assert seen[-1].tokens == plan.tokens and seen[-1].seconds_left == 0


def test_too_long_an_estimate_ends_it_after_the_first(computed: list[tuple[int, ...]]) -> None:
    with pytest.raises(RunError, match=r"would take about .* \(select fewer rows\)"):
        recompute(BATCH, CURRENT, WAY, most_seconds=0)
    assert len(computed) == 1
    recompute(BATCH, CURRENT, WAY, most_seconds=3600)


def test_an_interrupted_replay_goes_on(tmp_path: Path, computed: list[tuple[int, ...]]) -> None:
    whole = recompute(BATCH, CURRENT, WAY)
    order = tuple(computed)
    assert len(order) >= 4
    computed.clear()
    with pytest.raises(Interrupted):
        recompute(BATCH, CURRENT, WAY, cache=tmp_path, watch=after(2))
    assert tuple(computed) == order[:2]
    computed.clear()
    assert recompute(BATCH, CURRENT, WAY, cache=tmp_path) == whole
    assert tuple(computed) == order[2:]
    computed.clear()
    assert recompute(BATCH, CURRENT, WAY, cache=tmp_path) == whole
    assert not computed


def test_what_is_kept_is_used_only_for_the_same(
    tmp_path: Path, computed: list[tuple[int, ...]]
) -> None:
    recompute(BATCH, CURRENT, WAY, cache=tmp_path)
    all_of_it = len(computed)
    ids = BATCH["input_ids"].clone()
    ids[0, 2] += 1
    for batch, path, settings in (
        (BATCH, STALE, WAY),
        (BATCH, CURRENT, replace(WAY, temperature=0.7)),
        (BATCH, CURRENT, replace(WAY, extremes=True)),
        (BATCH, CURRENT, replace(WAY, dtype="bfloat16")),
    ):
        computed.clear()
        assert recompute(batch, path, settings, cache=tmp_path) == recompute(batch, path, settings)
        assert len(computed) == 2 * all_of_it
    computed.clear()
    recompute({**BATCH, "input_ids": ids}, CURRENT, WAY, cache=tmp_path)
    assert [0 in rows for rows in computed] == [True]  # the others' content is the same


def test_a_damaged_result_is_computed_again(
    tmp_path: Path, computed: list[tuple[int, ...]]
) -> None:
    whole = recompute(BATCH, CURRENT, WAY, cache=tmp_path)
    computed.clear()
    damaged = sorted(tmp_path.iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:50])
    assert recompute(BATCH, CURRENT, WAY, cache=tmp_path) == whole
    assert len(computed) == 1


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        recompute(BATCH, CURRENT, WAY, cache=tmp_path / "file")


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Checkpoint, ids: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate")

    opened = open_checkpoint(CURRENT, WAY)
    monkeypatch.setattr(Checkpoint, "hidden", full)
    with pytest.raises(RunError, match=r"^too little memory: CUDA out of memory\. \(a smaller"):
        recompute(BATCH, opened, WAY)


def test_no_bar_where_standard_error_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as watch:
        assert watch is None
        recompute(BATCH, CURRENT, WAY, watch=watch)
    assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich", reason="rich is not installed")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar() as watch:
        recompute(BATCH, CURRENT, WAY, watch=watch)
    assert "recomputing log-probs" in terminal.getvalue()
    with progress_bar(quiet=True) as nothing:
        assert nothing is None
