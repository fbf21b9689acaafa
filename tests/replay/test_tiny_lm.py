"""Stage 1 on a small model, against log-probs computed row by row from full logits."""

from __future__ import annotations

from pathlib import Path

import needs_transformers  # noqa: F401
import pytest
from tiny_lm import BATCH, EXPECTED, RESPONSE, VALID, VALUES, largest, recomputed

from analyzer.replay.model.numerics import difference

KEYS = sorted(key.removesuffix(".logprobs") for key in VALUES if key.endswith(".logprobs"))
A_TOKEN = {"fp32": 5e-5, "fp64": 5e-6, "bf16": 0.25}
ON_MEANS = 1e-2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where checkpoints are made."""
    return tmp_path_factory.mktemp("checkpoints")


def test_every_checkpoint_dtype_and_temperature_is_there() -> None:
    assert len(KEYS) == 14


@pytest.mark.parametrize("key", KEYS)
def test_log_probs_are_those_of_the_full_logits(key: str, made: Path) -> None:
    expected, found = VALUES[f"{key}.logprobs"], recomputed(key, made).logprobs
    assert largest(found - expected) <= A_TOKEN[key.split(".")[1]]
    assert abs(float((found - expected)[RESPONSE].mean())) <= ON_MEANS
    assert not found[~VALID].any()


@pytest.mark.parametrize("key", [key for key in KEYS if f"{key}.entropy" in VALUES])
def test_entropy_is_that_of_the_full_logits(key: str, made: Path) -> None:
    found = recomputed(key, made).entropy
    assert found is not None
    assert largest((found - VALUES[f"{key}.entropy"])[VALID]) <= A_TOKEN[key.split(".")[1]]


def test_the_behaviour_log_probs_of_the_batch_are_the_stale_ones_shifted_by_one(made: Path) -> None:
    found = recomputed("stale.fp32.T1.0", made).logprobs
    rolled = BATCH["logprobs"].roll(-1, 1)
    assert largest((found - rolled)[RESPONSE]) <= 5e-5


def test_mean_entropy(made: Path) -> None:
    found = recomputed("current.fp32.T1.0", made).entropy
    assert found is not None
    assert float(found[RESPONSE].mean()) == pytest.approx(EXPECTED["mean_entropy_T1"], abs=1e-5)


@pytest.mark.parametrize("name", sorted(EXPECTED["comparisons"]))
def test_drift(name: str, made: Path) -> None:
    expected = EXPECTED["comparisons"][name]
    keys = [expected[role].removesuffix(".logprobs") for role in ("prox", "behave")]
    prox, behave = (recomputed(key, made).logprobs for key in keys)
    found = difference(prox, behave, RESPONSE)
    # AReaL's estimator has the two policies the other way round.
    turned = difference(behave, prox, RESPONSE)
    coarse = any(".bf16." in key for key in keys)
    mean, a_token = (ON_MEANS, A_TOKEN["bf16"]) if coarse else (1e-5, 5e-5)
    assert found.tokens == EXPECTED["n_response_tokens"]
    assert found.not_finite == 0
    weight, kl = expected["behave_imp_weight"], expected["behave_approx_kl"]
    assert found.mean_weight == pytest.approx(weight["avg"], abs=mean)
    assert found.smallest_weight == pytest.approx(weight["min"], rel=a_token)
    assert found.largest_weight == pytest.approx(weight["max"], rel=a_token)
    assert found.mean == pytest.approx(kl["avg"], abs=mean)
    assert found.k2 == pytest.approx(expected["kl_taylor"]["avg"], abs=mean)
    assert turned.k3 == pytest.approx(expected["kl_k3_areal"]["avg"], abs=mean)
    assert found.max_abs == pytest.approx(expected["max_abs_diff"], abs=a_token)
