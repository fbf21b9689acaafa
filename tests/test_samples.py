"""The sample runs: the committed script makes the committed bytes, and they are what they say."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    script = [sys.executable, "-m", "sample_logs.make_samples", str(folder)]
    subprocess.run(script, check=True, capture_output=True, cwd=repository)
    return folder


def log_of(folder: Path, run: str) -> str:
    (path,) = (folder / run).glob("logs/*/*/*/main.log")
    return path.read_text("utf-8")


def series(log: str, key: str) -> list[float]:
    return [float(v) for v in re.findall(rf"│ {re.escape(key)} +│ +(\S+) │", log)]


@pytest.mark.parametrize("run", ["healthy", "length_truncation"])
def test_the_script_makes_the_committed_bytes(made: Path, sample_logs: Path, run: str) -> None:
    files = {p.relative_to(made) for p in (made / run).rglob("*") if p.is_file()}
    committed = {p.relative_to(sample_logs) for p in (sample_logs / run).rglob("*") if p.is_file()}
    committed -= {Path(run, "expected.json")}  # what the rules say of it
    assert files == committed
    for file in sorted(files):
        assert (made / file).read_bytes() == (sample_logs / file).read_bytes(), file


def test_healthy_learns_and_is_never_cut(made: Path) -> None:
    log = log_of(made, "healthy")
    reward = series(log, "ppo_actor/task_reward/avg")
    assert log.count("Stats (1/1):") == len(reward) == 160
    assert sum(reward[:10]) / 10 == pytest.approx(0.36, abs=0.03)
    assert sum(reward[-10:]) / 10 == pytest.approx(0.70, abs=0.03)
    ratios = series(log, "ppo_actor/no_eos_ratios/avg")
    assert min(ratios) == 0.0078125  # 4/512: the longest row of each of four ranks
    assert max(ratios) <= 6 / 512


def test_length_truncation_runs_into_the_limit(made: Path) -> None:
    log = log_of(made, "length_truncation")
    ratios = series(log, "ppo_actor/no_eos_ratios/avg")
    assert len(ratios) == 240
    assert max(ratios[:120]) < 0.02
    assert 140 < next(i for i, ratio in enumerate(ratios) if ratio > 0.05) < 170
    assert sum(ratios[-10:]) / 10 == pytest.approx(0.31, abs=0.04)
    reward = series(log, "ppo_actor/task_reward/avg")
    assert sum(reward[130:150]) / 20 - sum(reward[-20:]) / 20 > 0.1


def test_the_counts_of_a_table_agree(made: Path) -> None:
    log = log_of(made, "length_truncation")
    right = series(log, "ppo_actor/correct_n_seqs")
    wrong = series(log, "ppo_actor/incorrect_n_seqs")
    reward = series(log, "ppo_actor/task_reward/avg")
    assert {a + b for a, b in zip(right, wrong, strict=True)} == {512.0}
    assert reward == pytest.approx([n / 512 for n in right], rel=1e-4)
    assert max(series(log, "ppo_actor/seq_len/max")) <= 4096 + 244  # limit and longest prompt


def test_both_sources_of_a_run_hold_the_same_values(made: Path) -> None:
    (path,) = (made / "length_truncation" / "tensorboard").iterdir()
    found = []
    content, offset = path.read_bytes(), 0
    while offset < len(content):
        (size,) = struct.unpack_from("<Q", content, offset)
        record = content[offset + 12 : offset + 12 + size]
        if b"ppo_actor/task_reward/avg" in record:
            found.append(struct.unpack("<f", record[-4:])[0])
        offset += 16 + size
    logged = series(log_of(made, "length_truncation"), "ppo_actor/task_reward/avg")
    assert found == pytest.approx(logged, rel=5e-5)  # five digits in the text


def test_no_secret_and_no_path_of_a_person_is_in_the_samples(made: Path) -> None:
    for config in made.rglob("config.yaml"):
        text = config.read_text("utf-8")
        secrets = re.findall(r"^\s*\w*api_key: (.*)$", text, re.MULTILINE)
        assert set(secrets) <= {"''", "null"}
        assert len(secrets) == 5
        assert "/home" not in text
