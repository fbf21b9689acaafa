"""The questions that separate causes, on a model whose answers are known."""

from __future__ import annotations

import math

import needs_transformers  # noqa: F401
import pytest
import torch
from tiny_lm import BATCH, DEVICE, EXPECTED, FOLDER, RESPONSE

from analyzer.replay.model import stage1
from analyzer.replay.model.checkpoint import Checkpoint
from analyzer.replay.model.numerics import (
    difference,
    precision,
    repeat,
    staleness,
    temperature,
)
from analyzer.replay.model.rows import MicroBatch
from analyzer.replay.model.settings import Settings

WAY = Settings(device=DEVICE, tokens=96, entropy=False)
CURRENT, STALE = FOLDER / "ckpt_current", FOLDER / "ckpt_stale"


def test_difference_by_hand() -> None:
    of = torch.tensor([[math.log(2.0), 5.0, 0.0], [-math.log(4.0), -math.inf, 9.0]])
    mask = torch.tensor([[1, 0, 1], [1, 1, 0]])
    found = difference(of, torch.zeros(2, 3), mask)
    # d = ln 2, 0, -2 ln 2; the infinite one is left out.
    two = math.log(2)
    assert (found.tokens, found.not_finite) == (4, 1)
    assert found.max_abs == pytest.approx(2 * two, rel=1e-6)
    assert found.mean_abs == pytest.approx(two, rel=1e-6)
    assert found.mean == pytest.approx(-two / 3, rel=1e-6)
    assert found.mean_weight == pytest.approx((2 + 1 + 0.25) / 3, rel=1e-6)
    assert found.smallest_weight == pytest.approx(0.25, rel=1e-6)
    assert found.largest_weight == pytest.approx(2, rel=1e-6)
    assert found.effective == pytest.approx(3.25**2 / (3 * (4 + 1 + 0.0625)), rel=1e-6)
    assert found.k1 == pytest.approx(two / 3, rel=1e-6)
    assert found.k2 == pytest.approx(5 * two**2 / 6, rel=1e-6)
    assert found.k3 == pytest.approx((3.25 - 3 + two) / 3, rel=1e-6)


def test_difference_without_a_finite_token() -> None:
    found = difference(torch.full((1, 2), math.nan), torch.zeros(1, 2), torch.ones(1, 2))
    assert (found.tokens, found.not_finite, found.max_abs, found.k3) == (2, 2, None, None)


def test_the_same_computation_twice() -> None:
    found = repeat(BATCH, CURRENT, WAY, RESPONSE)
    assert found.deterministic is not None and found.between is not None
    assert found.plain.tokens == found.between.tokens == EXPECTED["n_response_tokens"]
    assert found.deterministic.max_abs == 0
    assert found.between.max_abs is not None and found.between.max_abs <= 1e-5
    assert not torch.are_deterministic_algorithms_enabled()


def noisy(monkeypatch: pytest.MonkeyPatch, deterministic: bool) -> None:
    """Hidden states with noise, and what happens where only deterministic algorithms may run."""
    real = stage1.states

    def states(part: MicroBatch, checkpoint: Checkpoint) -> torch.Tensor:
        found = real(part, checkpoint)
        if not torch.are_deterministic_algorithms_enabled():
            return found + 1e-3 * torch.randn_like(found)
        if not deterministic:
            raise RuntimeError("scatter does not have a deterministic implementation\nmore")
        return found

    monkeypatch.setattr(stage1, "states", states)


def test_nondeterminism_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    noisy(monkeypatch, deterministic=True)
    found = repeat(BATCH, CURRENT, WAY, RESPONSE)
    assert found.plain.max_abs is not None and found.plain.max_abs > 1e-4
    assert found.deterministic is not None and found.deterministic.max_abs == 0
    assert found.why_not == ""


def test_where_no_deterministic_algorithm_exists_the_answer_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noisy(monkeypatch, deterministic=False)
    found = repeat(BATCH, CURRENT, WAY, RESPONSE)
    assert found.plain.max_abs is not None and found.plain.max_abs > 1e-4
    assert found.deterministic is None and found.between is None
    assert found.why_not == (
        "cannot be computed deterministically: scatter does not have a deterministic implementation"
    )
    assert not torch.are_deterministic_algorithms_enabled()


def test_precision() -> None:
    expected = EXPECTED["comparisons"]["precision_mismatch_same_weights"]
    found = precision(BATCH, CURRENT, WAY, RESPONSE)
    assert found.mean_weight == pytest.approx(expected["behave_imp_weight"]["avg"], abs=1e-2)
    assert found.k2 == pytest.approx(expected["kl_taylor"]["avg"], abs=1e-3)
    assert found.max_abs is not None and 0.01 < found.max_abs < 0.25


def test_staleness() -> None:
    expected = EXPECTED["comparisons"]["stale"]
    found = staleness(BATCH, CURRENT, STALE, WAY, RESPONSE)
    assert found.mean_weight == pytest.approx(expected["behave_imp_weight"]["avg"], abs=1e-5)
    assert found.mean == pytest.approx(expected["behave_approx_kl"]["avg"], abs=1e-5)
    assert found.max_abs == pytest.approx(expected["max_abs_diff"], abs=5e-5)


def test_temperature() -> None:
    expected = EXPECTED["comparisons"]["temperature_mismatch_same_weights"]
    found = temperature(BATCH, CURRENT, WAY, RESPONSE, 0.7)
    assert found.mean_weight == pytest.approx(expected["behave_imp_weight"]["avg"], rel=1e-5)
    assert found.k2 == pytest.approx(expected["kl_taylor"]["avg"], rel=1e-5)
    assert found.max_abs == pytest.approx(expected["max_abs_diff"], abs=5e-5)
