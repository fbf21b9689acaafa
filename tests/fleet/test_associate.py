"""Which settings go with a finding: found where there is one, nothing where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from entries_of import Run, write_fleet_of

from analyzer.cli import run_command
from analyzer.errors import ExitCode, UsageError
from analyzer.fleet.associate import Setting, associate

RUNS = 150
CUT = "gconfig.max_new_tokens"
SHUFFLES = 8


@pytest.fixture(scope="module")
def many_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 runs with 200 keys. One value of one key makes `cut` likelier; `shuffled-…` are the same
    findings dealt to other runs.
    """
    rng = np.random.default_rng(20261130)
    columns: dict[str, np.ndarray] = {f"flag.{i}": rng.integers(0, 2, RUNS) > 0 for i in range(99)}
    columns |= {f"choice.{i}": rng.choice(["a", "b", "c"], RUNS) for i in range(50)}
    columns |= {f"number.{i}": rng.lognormal(size=RUNS) for i in range(50)}
    columns[CUT] = rng.choice([1024, 4096], RUNS)
    assert len(columns) == 200
    cut = rng.random(RUNS) < np.where(columns[CUT] == 1024, 0.5, 0.15)
    labels = {"cut": cut} | {f"shuffled-{i}": rng.permutation(cut) for i in range(SHUFFLES)}
    runs = [
        Run(
            {rule: 50 for rule, fired in labels.items() if fired[i]},
            tuple(rule for rule, fired in labels.items() if not fired[i]),
            config={key: values[i].item() for key, values in columns.items()},
        )
        for i in range(RUNS)
    ]
    return write_fleet_of(tmp_path_factory.mktemp("many"), runs)


def test_an_injected_association_is_found_first_among_200_keys(many_keys: Path) -> None:
    found = associate(many_keys, ["cut"], 0.05)
    first = found.found[0]
    assert (first.settings, first.stands) == ((Setting(CUT, "1024"),), True)
    assert first.found.low > 1.5
    (looked,) = found.looked
    assert (looked.sick + looked.healthy, looked.left_out) == (RUNS, ())
    assert looked.tests == 99 + 3 * 50 + 50 + 1  # each of three values against the other two


def test_with_labels_shuffled_nothing_passes(many_keys: Path) -> None:
    passing = [
        seed
        for seed in range(SHUFFLES)
        if associate(many_keys, [f"shuffled-{seed}"], 0.05).standing
    ]
    # At a rate of 5 % at most 0.4 are expected.
    assert len(passing) <= 1
    # In one family with all of them, nothing that was shuffled stands beside what is there.
    together = associate(many_keys, [], 0.05)
    assert [(a.rule, a.settings[0].key) for a in together.standing] == [("cut", CUT)]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 runs by hand: of the ten with `cut` eight have no KL term, of the ten without two."""

    def run(number: int, sick: bool, no_kl: bool) -> Run:
        config = {
            "actor.kl_ctl": 0.0 if no_kl else 0.1,
            "ref.path": None if no_kl else "Qwen",  # set where and only where the term is
            "gconfig.n_samples": 8,
            "trial_name": f"trial-{number}",
            "actor.optimizer.lr": (1 + number % 10 + 10 * sick) * 1e-6,
            "warmup": (1 + number % 10 + 10 * sick) * 100,
            "rare": "yes" if number < 2 else "no",
        }
        return Run({"cut": 9} if sick else {}, () if sick else ("cut",), config=config)

    runs = [run(i, sick=True, no_kl=i < 8) for i in range(10)]
    runs += [run(i + 10, sick=False, no_kl=i < 2) for i in range(10)]
    aside = Run({"cut": 9}, set_aside=("cut",), config={"actor.kl_ctl": 0.0})
    runs += [aside] * 2 + [Run(not_checked=("cut",), config={"actor.kl_ctl": 0.1})] * 2
    return write_fleet_of(tmp_path_factory.mktemp("few"), runs)


def test_counts_effects_and_keys_told_as_one(fleet: Path) -> None:
    found = associate(fleet, ["cut"], 0.05)
    (looked,) = found.looked
    assert (looked.sick, looked.healthy, looked.set_aside, looked.tests) == (10, 10, 2, 2)
    assert dict(looked.left_out) == {
        "the same in all runs": 1,
        "another value in each run": 1,
        "no value in enough runs": 1,
    }
    rank, split = found.found
    assert split.settings == (Setting("actor.kl_ctl", "0.0"), Setting("ref.path", "null"))
    assert (split.sick, split.sick_of, split.healthy, split.healthy_of) == (8, 10, 2, 10)
    assert split.found.p == pytest.approx(
        scipy.stats.fisher_exact(np.array([[8, 2], [2, 8]])).pvalue
    )
    assert split.found.effect == pytest.approx(8.5**2 / 2.5**2)
    assert rank.settings == (Setting("actor.optimizer.lr"), Setting("warmup"))
    low, high = np.arange(1, 11.0), np.arange(11, 21.0)
    expected = scipy.stats.mannwhitneyu(high, low, method="asymptotic").pvalue
    assert rank.found.p == pytest.approx(expected)
    assert rank.found.effect == 1.0
    assert rank.medians is not None
    assert rank.medians == pytest.approx((15.5e-6, 5.5e-6))


def test_the_command_says_what_it_found_and_what_that_is_not(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(fleet.parent)]
    assert run_command(["associate", *store, "--finding", "cut"]) == ExitCode.JUDGED
    text = capsys.readouterr().out
    assert text.startswith("cut: 10 runs with it, 10 without, 2 set aside\n")
    assert "  actor.kl_ctl = 0.0\n  = ref.path = null\n" in text
    assert "8 of 10 runs with the finding have it, 2 of 10 without; odds ratio 11.6" in text
    assert "2 comparisons, 2 stand" in text
    assert "Association, not cause" in text
    assert run_command(["associate", *store, "--format", "json"]) == ExitCode.JUDGED
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert [a["test"] for a in finding["associations"]] == ["mann-whitney", "fisher"]
    assert finding["left_out"]["the same in all runs"] == 1


def test_too_few_runs_or_none_is_one_line(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="unheard: 0 runs with it and 0 without"):
        associate(fleet, ["unheard"], 0.05)
    few = write_fleet_of(tmp_path / "few", [Run({"cut": 3}), Run(clear=("cut",))])
    with pytest.raises(UsageError, match="no finding that 5 runs have and 5 have not"):
        associate(few, [], 0.05)
    assert run_command(["associate", "--store", str(tmp_path)]) == ExitCode.CANNOT_JUDGE
    assert "no runs were judged here" in capsys.readouterr().err
