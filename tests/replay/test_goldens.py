"""All recorded batches: every key, value and tensor as AReaL's own functions gave it."""

from __future__ import annotations

import needs_torch  # noqa: F401
import pytest
import torch
from golden_cases import CASES, FOLDER, bundle_of, conventions_of, differences

from analyzer.replay.conventions import resolve
from analyzer.replay.stage0 import replay_batch


def test_all_cases_are_here() -> None:
    assert sum(case.startswith("areal-2026-05/") for case in CASES) == 65
    assert sum(case.startswith("areal-2026-08/") for case in CASES) == 38
    size = sum(path.stat().st_size for path in FOLDER.glob("**/*") if path.is_file())
    assert size < 8e6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_a_replay_agrees_with_areal(case: str, dtype: torch.dtype) -> None:
    found = replay_batch(bundle_of(case), conventions_of(case), dtype)
    assert differences(case, found) == []
    for tensor in found.tensors.values():
        assert not tensor.is_floating_point() or tensor.dtype == dtype


@pytest.mark.parametrize("case", CASES)
def test_auto_chooses_the_version_that_made_the_case(case: str) -> None:
    assert resolve("auto", bundle_of(case).raw_config) == conventions_of(case)
