"""Curves on one axis, worked out by hand."""

from __future__ import annotations

import numpy as np
from compared_runs import run

from analyzer.compare.axes import Axis, Shared, axis, shared
from analyzer.compare.model import Align
from analyzer.tables.evidence import Absent, Series
from analyzer.tables.run import RunTables


def found(name: str, align: Align, *runs: RunTables) -> Shared:
    rows, axes = [r.series(name) for r in runs], [axis(r, align) for r in runs]
    assert all(isinstance(row, Series) for row in rows)
    assert all(isinstance(along, Axis) for along in axes)
    answer = shared(name, rows, axes, align)  # type: ignore[arg-type]
    assert isinstance(answer, Shared)
    return answer


def test_by_tokens_with_batches_of_two_sizes() -> None:
    small = run({"entropy": "0+1x60", "n_seqs": "10x60", "seq_len": "10x60"})
    large = run({"entropy": "0+1x40", "n_seqs": "20x40", "seq_len": "10x40"})
    both = found("entropy", "tokens", small, large)
    # 6,000 tokens that both trained on: 30 stretches of 200, two small batches or a large one.
    assert both.places.tolist() == [100.0 + 200 * k for k in range(30)]
    assert both.curves[0].tolist() == [2 * k + 0.5 for k in range(30)]
    assert both.curves[1].tolist() == list(range(30))


def test_without_the_number_of_sequences_the_updates_tokens_count() -> None:
    along = axis(run({"n_tokens": "300x30", "seq_len": "10x30"}), "tokens")
    assert isinstance(along, Axis)
    assert along.ends.tolist() == [300.0 * (k + 1) for k in range(30)]


def test_a_step_without_its_tokens_is_between_its_neighbours() -> None:
    along = axis(run({"n_tokens": "100x10 _ 300x20", "entropy": "1x31"}), "tokens")
    assert isinstance(along, Axis)
    assert along.ends[9:13].tolist() == [1000.0, 1200.0, 1500.0, 1800.0]


def test_by_time_a_step_twice_as_long_comes_half_as_far() -> None:
    fast = run({"entropy": "0+1x80", "t_rollout": "10x80"})
    slow = run({"entropy": "0+1x40", "t_rollout": "20x40"})
    both = found("entropy", "time", fast, slow)
    assert both.places[-1] == 790.0
    assert (both.curves[0] - 2 * both.curves[1]).tolist() == [0.5] * 40


def test_by_step_only_what_all_logged_as_a_number() -> None:
    a = run({"entropy": "0+1x10 nan 11+1x30"})
    b = run({"entropy": "0+2x5 _x3 16+2x30"})
    both = found("entropy", "step", a, b)
    assert both.places.tolist() == [*range(5), 8, 9, *range(11, 38)]
    assert np.array_equal(both.curves[1], 2 * both.curves[0])


def test_a_long_run_is_reduced() -> None:
    both = found("entropy", "step", run({"entropy": "0+1x5120"}), run({"entropy": "1+1x5120"}))
    assert len(both.places) == 512
    assert set((both.curves[1] - both.curves[0]).tolist()) == {1.0}


def test_a_run_without_such_an_axis_says_so() -> None:
    along = axis(run({"entropy": "1x30"}), "tokens")
    assert isinstance(along, Absent) and "logs tokens at 0 of its steps" in along.reason
    assert isinstance(axis(run({"entropy": "1x30"}), "time"), Absent)
    sparse = axis(run({"n_tokens": "100x10 _x20", "entropy": "1x30"}), "tokens")
    assert isinstance(sparse, Absent) and "10 of its steps" in sparse.reason
