"""Which places below a folder are runs."""

from __future__ import annotations

from pathlib import Path

from runs_of import log, write_run

from analyzer.fleet.find import Finder, Found, without_inner


def found_below(*roots: Path) -> list[Found]:
    return without_inner([run for root in roots for run in Finder({}).below(root)])


def relative(*roots: Path) -> list[str]:
    return [run.relative for run in found_below(*roots)]


def test_runs_at_several_depths(tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "b" / "trial-1", 1)
    write_run(tmp_path / "a" / "trial-2", 2)
    write_run(tmp_path / "trial-3", 3)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("print()\n", "utf-8")
    assert relative(tmp_path) == ["a/b", "a/trial-2", "trial-3"]


def test_a_run_within_a_run_is_told_once(tmp_path: Path) -> None:
    write_run(tmp_path / "trial-1", 1)
    write_run(tmp_path / "trial-2", 2)
    (tmp_path / "trial-1" / "eval").mkdir()
    (tmp_path / "trial-1" / "eval" / "main.log").write_text(log(5), "utf-8")
    assert relative(tmp_path) == ["trial-1", "trial-2"]
    # Also where both are asked for, or one twice.
    one = tmp_path / "trial-1"
    assert [run.path for run in found_below(one, one / "eval", tmp_path, one)] == [
        str(tmp_path / "trial-1"),
        str(tmp_path / "trial-2"),
    ]


def test_a_root_that_is_a_run_or_its_log(tmp_path: Path) -> None:
    run = write_run(tmp_path / "trial-1", 1)
    assert [found.path for found in found_below(run)] == [str(run)]
    assert [found.path for found in found_below(run / "main.log")] == [str(run / "main.log")]


def test_a_broken_run_beside_a_single_good_one(tmp_path: Path) -> None:
    write_run(tmp_path / "trial-1", 1)
    (tmp_path / "trial-2").mkdir()
    (tmp_path / "trial-2" / "main.log").write_bytes(b"")
    good, bad = found_below(tmp_path)
    assert (good.relative, good.error) == ("trial-1", "")
    assert (bad.relative, bad.error) == ("trial-2", f"{bad.path}/main.log: empty file")


def test_an_empty_helper_log_makes_no_second_run(tmp_path: Path) -> None:
    write_run(tmp_path / "logs", 1)
    (tmp_path / "stderr").mkdir()
    (tmp_path / "stderr" / "worker.log").write_bytes(b"")
    assert [run.path for run in found_below(tmp_path)] == [str(tmp_path)]


def test_the_store_below_the_root_is_left_aside(tmp_path: Path) -> None:
    run = write_run(tmp_path / "trial-1", 1)
    store = tmp_path / ".analyzer"

    def listing() -> str:
        (found,) = Finder({}, aside=store).below(tmp_path)
        return found.listing

    before = listing()
    store.mkdir()
    (store / "x").write_text("x", "utf-8")
    assert listing() == before
    (run / "note.txt").write_text("x", "utf-8")
    assert listing() != before
