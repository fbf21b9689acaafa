"""Limits from healthy runs: critical values, counts and bounds worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from analyzer.cli import run_command
from analyzer.errors import ExitCode, RuleErrors, RunError, UsageError
from analyzer.fleet.calibrate import Count, Proposal, chosen_limits, limit_value
from analyzer.fleet.calibration import Calibration, HealthyRun, overrides_text
from analyzer.fleet.labels import read_labels
from analyzer.pipeline import Settings, open_rules
from analyzer.resources import rules_dir
from analyzer.rulebook.load import Override, Rulebook, load_rulebook
from analyzer.rulebook.vary import Limit, limits_of, overridden
from sample_logs.areal_files import LoggedStep, text_log

FREE = (None, None)


def counter(criticals: Sequence[float], sign: int = 1) -> Count:
    """Runs that fire while the limit is on this side of their critical value."""
    return lambda limit: sum(sign * (critical - limit) > 0 for critical in criticals)


@pytest.mark.parametrize(
    ("criticals", "sign", "before", "allowed", "expected"),
    [
        # The largest of three is 0.123: the next number of two digits is 0.13.
        ([0.04, 0.061, 0.123], 1, 0.05, 0, 0.13),
        # One of them may fire: just beyond 0.0614.
        ([0.04, 0.0614, 0.123], 1, 0.05, 1, 0.062),
        # A limit from below: the smallest is 0.274, and 0.27 is below it.
        ([0.5, 0.274], -1, 0.9, 0, 0.27),
        # Two digits lie exactly at a critical value, where the rule fires no more.
        ([0.2], 1, 0.05, 0, 0.2),
        # A limit that nothing reaches is brought to what fires: just beyond 0.03.
        ([0.03], 1, 0.8, 0, 0.03),
        # Negative limits, and one at 0.
        ([-3.14], 1, -8.0, 0, -3.1),
        ([0.004], 1, 0.0, 0, 0.004),
    ],
)
def test_a_limit_lies_just_beyond_the_runs(
    criticals: list[float], sign: int, before: float, allowed: int, expected: float
) -> None:
    count = counter(criticals, sign)
    assert limit_value(count, before, sign, allowed, FREE) == pytest.approx(expected, rel=1e-6)


def test_a_limit_keeps_to_its_range() -> None:
    assert limit_value(counter([0.973]), 0.05, 1, 0, (0.0, 1.0)) == pytest.approx(0.98)
    assert limit_value(counter([1.7]), 0.05, 1, 0, (0.0, 1.0)) is None
    assert limit_value(counter([0.996]), 0.05, 1, 0, (0.0, 1.0)) == 1.0
    # Where no value fires nothing is learned.
    assert limit_value(lambda limit: 0, 0.05, 1, 0, FREE) == 0.05


@pytest.fixture(scope="module")
def rulebook() -> Rulebook:
    return open_rules(Settings()).rulebook


def test_which_parameters_are_limits(rulebook: Rulebook) -> None:
    def limits(name: str) -> tuple[Limit, ...]:
        rule = rulebook.rule(name)
        assert rule is not None
        return limits_of(rule)

    assert limits("truncation") == (Limit("limit", 1),)
    # A level below it fires less often for a smaller share; steps and windows are no limits.
    assert limits("entropy-collapse")[0] == Limit("share", -1)
    assert limits("length-growth") == (Limit("min_growth", 1), Limit("limit", -1))


def test_a_banded_limit_moves_as_set_moves_it(rulebook: Rulebook) -> None:
    rules = open_rules(Settings())
    overrides = [Override("truncation", "limit", 0.1, "--set")]
    loaded = load_rulebook([rules_dir()], rules.catalog, overrides).rule("truncation")
    rule = rulebook.rule("truncation")
    assert loaded is not None
    assert rule is not None
    varied = overridden(rule, "limit", 0.1)
    assert varied is not None
    assert [band.tree for band in varied.bands] == [band.tree for band in loaded.bands]
    assert [band.values["limit"] for band in varied.bands] == [0.1, 0.2]


def test_what_is_asked_for_must_be_a_limit(rulebook: Rulebook) -> None:
    (found,) = chosen_limits(["truncation"], rulebook)
    assert found[1] == Limit("limit", 1)
    for name, message in (
        ("truncatoin", "did you mean 'truncation'"),
        ("truncation.steps", "no limit of this rule"),
        ("length-growth", "several limits"),
        ("grad-nonfinite", "compares with no parameter"),
    ):
        with pytest.raises(UsageError, match=message):
            chosen_limits([name], rulebook)


def test_the_file_of_overrides() -> None:
    # With none of 20 firing the bound is 1 − 0.05^(1/20) = 0.1391.
    found = Calibration(
        0.01,
        (HealthyRun("/runs/a", "ab" * 32),),
        (
            Proposal("truncation", "limit", "fraction", 0.05, 0.13, 20, 2, 0),
            Proposal("kl-blowup", "limit", "1", 1.0, 1.0, 20, 0, 0),
        ),
        0,
        (),
    )
    text = overrides_text(found, datetime(2026, 11, 30).date())
    assert "on 2026-11-30" in text
    assert f"#   {'ab' * 32}  /runs/a\n" in text
    assert text.endswith(
        "parameters:\n"
        "  # was 0.05: fired in 2 of 20; now in 0, and in at most 14\u202f% of runs like these\n"
        "  truncation.limit: 0.13\n"
    )


STEPS = 30


def write_cut_run(folder: Path, seed: int, share: float) -> None:
    """A run in which so many of 100 sequences are cut off, in the last two thirds."""
    steps = [
        LoggedStep(
            i,
            datetime(2026, 5, 1) + timedelta(minutes=i),
            {
                "ppo_actor/task_reward/avg": 0.4 + 0.01 * ((i * 7 + seed) % 5),
                "ppo_actor/no_eos_ratios/avg": share if i >= STEPS // 3 else 0.0,
                "ppo_actor/n_seqs": 100.0,
            },
        )
        for i in range(STEPS)
    ]
    folder.mkdir(parents=True)
    (folder / "main.log").write_text(text_log(steps, STEPS, STEPS), "utf-8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three healthy runs with up to 12.34 % cut off, and two with a label and 15 % or 50 %."""
    folder = tmp_path_factory.mktemp("calibrate")
    for number, share in enumerate((0.01, 0.08, 0.1234)):
        write_cut_run(folder / "healthy" / f"trial-{number}", number, share)
    label = "scenario: x\nmust_find: [truncation|length-growth]\nmay_find: []\nmust_not_find: []\n"
    for name, share in (("mild", 0.12), ("strong", 0.5)):
        write_cut_run(folder / "labelled" / name, 7, share)
        (folder / "labelled" / name / "about.yaml").write_text(label, "utf-8")
    return folder


def calibrated(runs: Path, *more: str) -> int:
    return run_command(
        ["calibrate", "--healthy", str(runs / "healthy/*"), "--store", str(runs / "store"),
         "--quiet", *more]
    )  # fmt: skip


def test_from_runs_to_a_file_that_check_uses(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "limits.yaml"
    words = ["--rule", "truncation", "--labelled", str(runs / "labelled/*")]
    assert calibrated(runs, *words, "--out", str(out), "--date", "2026-11-30") == ExitCode.JUDGED
    said = capsys.readouterr().out
    # Two of the three are above 5 %. The highest is 12.34 %, so 13 % is the next limit.
    assert "truncation.limit: 5\u202f% → 13\u202f%" in said
    assert "fires in 2 of 3 healthy runs, then in 0" in said
    # 1 − 0.05^(1/3) = 63 %, and no claim of the 1 % that was asked for.
    assert "at most 63\u202f% with 95\u202f% confidence" in said
    assert "that takes 299 without an alarm" in said
    assert f"{runs}/labelled/mild: truncation no longer fires (LOST: it must be found" in said
    assert "labelled/strong" not in said

    assert "  truncation.limit: 0.13\n" in out.read_text("utf-8")
    check = ["check", str(runs / "healthy/trial-2"), "--store", str(runs / "store")]
    run_command(check)
    assert "(truncation, since" in capsys.readouterr().out
    run_command([*check, "--set", f"@{out}"])
    assert "(truncation, since" not in capsys.readouterr().out
    # What is there is not written over.
    assert calibrated(runs, *words, "--out", str(out)) == ExitCode.CANNOT_JUDGE
    assert "limits.yaml: is there already" in capsys.readouterr().err
    run_command([*check, "--set", f"@{tmp_path}/none.yaml"])
    assert "no such file" in capsys.readouterr().err


def test_a_graver_band_that_fires_cannot_be_calibrated_away(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 50 % is beyond the error band's 20 %, which a parameter does not move.
    glob = str(runs / "labelled/strong")
    assert calibrated(runs, "--healthy", glob, "--rule", "truncation") == ExitCode.JUDGED
    assert "no limit is proposed: at no value do 0 of these runs fire" in capsys.readouterr().out


def test_without_a_rule_those_that_fire_too_often(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrated(runs) == ExitCode.JUDGED
    assert "truncation.limit: 5\u202f% → 13\u202f%" in capsys.readouterr().out
    assert calibrated(runs, "--set", "truncation.limit=0.13") == ExitCode.JUDGED
    assert "No rule with a limit fires too often" in capsys.readouterr().out


def test_what_is_wrong_is_one_line(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calibrated(runs, "--healthy", str(tmp_path / "*")) == ExitCode.CANNOT_JUDGE
    assert capsys.readouterr().err == f"{tmp_path}/*: nothing is called so (quote the glob)\n"
    with pytest.raises(RunError, match=r"no about\.yaml in it"):
        read_labels([tmp_path])
    about = tmp_path / "about.yaml"
    about.write_text("must_find: truncation\n", "utf-8")
    with pytest.raises(RuleErrors, match="must_find"):
        read_labels([tmp_path])
    # A verdict in full says the same as a list of rules.
    about.write_text("must_find: {verdict: error, findings: [{rule: crashed, onset: [1, 2]}]}\n")
    (label,) = read_labels([tmp_path, tmp_path / "not labelled"])
    assert (label.place("crashed"), label.instead("crashed")) == ("must", ((),))
    assert label.place("truncation") == "not named"
