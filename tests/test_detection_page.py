"""The measured detection: the page says what the results say, and the counting is right."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import measured
import pytest

Run = dict[str, Any]


@pytest.fixture
def results(repository: Path) -> dict[str, Any]:
    return measured.results(repository, "detection")


@pytest.fixture
def bench(repository: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The modules that count and write the page."""
    names = [f"detection.{name}" for name in ("page", "scores", "judged", "picture")]
    names += ["peers.table", "peers.mapping"]
    return {n.split(".")[1]: measured.module(repository, monkeypatch, n) for n in names}


def run(strength: str, must: list[str], may: list[str], *said: str, **more: Any) -> Run:
    """A judged run; `rule?` is suppressed, `rule@9` has an onset."""
    findings = []
    for each in said:
        rule, _, onset = each.rstrip("?").partition("@")
        findings.append(
            {
                "rule": rule,
                "severity": "warning",
                "confidence": 0.9,
                "onset": int(onset) if onset else None,
                "suppressed": each.endswith("?"),
            }
        )
    alternatives = [rule for each in must for rule in each.split("|")]
    return {
        "name": "n",
        "scenario": "s",
        "strength": strength,
        "seed": 1,
        "must": must,
        "may": [*alternatives, *may],
        "since": 0,
        "onset": None,
        "steps": 100,
        "findings": findings,
        "plain": [],
        **more,
    }


def test_the_page_is_in_step(
    repository: Path, results: dict[str, Any], bench: dict[str, ModuleType]
) -> None:
    text = (repository / "docs" / "detection.md").read_text("utf-8")
    assert bench["page"].with_tables(text, results) == text, "run `make bench-detection`"
    drawn = (repository / "docs" / "images" / "detection.svg").read_text("utf-8")
    assert bench["picture"].svg(results) == drawn


def test_the_peers_table_is_in_step(repository: Path, bench: dict[str, ModuleType]) -> None:
    table = bench["table"]
    results = measured.results(repository, "peers")
    text = (repository / "docs" / "detection.md").read_text("utf-8")
    assert table.with_table(text, results) == text, "run `make bench-peers`"
    with pytest.raises(ValueError, match="lacks the markers of peers"):
        table.with_table("# Detection\n", results)


def test_what_a_peer_found_by_what_it_may_mean(bench: dict[str, ModuleType]) -> None:
    table = bench["table"]
    peer = bench["mapping"].Peer("p", "1", {"x": ("a",), "y": ("c",)})
    given = {"must": ["a|b"], "may": ["a", "b", "d"], "analyzer": ["b", "e"], "p": ["x", "y", "z"]}
    assert table.is_found(given, "p", peer)
    assert len(table.without_reason(given, "p", peer)) == 2  # c, and z that means nothing
    assert table.is_found(given, "analyzer", None)
    assert table.without_reason(given, "analyzer", None) == [{"e"}]


def test_a_page_without_a_marker_is_refused(
    results: dict[str, Any], bench: dict[str, ModuleType]
) -> None:
    with pytest.raises(ValueError, match="lacks the markers of about"):
        bench["page"].with_tables("# Detection\n", results)


def test_what_is_found_missed_and_false(bench: dict[str, ModuleType]) -> None:
    scores = bench["scores"]
    runs = [
        run("strong", ["a|b"], ["c"], "b", "c", "x"),  # found, a consequence, one false
        run("strong", ["a|b"], ["c"], "c", "x?"),  # missed; what is suppressed does not count
        run("strong", ["a|b"], ["c"], "a", "b"),  # found once, though by two rules
    ]
    (count,) = scores.by_scenario(runs)["strong"].values()
    assert (count.found, count.missed, count.false) == (2, 1, 1)
    assert count.f1 == pytest.approx(4 / 6)
    rules = scores.by_rule(runs)
    assert {name: (c.found, c.missed, c.false) for name, c in rules.items()} == {
        "a": (1, 1, 0),
        "b": (2, 0, 0),
        "x": (0, 0, 1),
    }
    assert scores.macro(rules) == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_false_alarms_are_those_of_healthy_runs(bench: dict[str, ModuleType]) -> None:
    info = run("off", [], [], "x")
    info["findings"][0]["severity"] = "info"
    runs = [run("off", [], [], "x", "y"), run("off", [], []), info, run("strong", [], [], "x")]
    alarms = bench["scores"].false_alarms(runs)
    assert (alarms["healthy_runs"], alarms["alarms"], alarms["runs_with_one"]) == (3, 2, 1)
    assert alarms["per_100"] == 66.67


def test_onsets_are_taken_where_the_step_is_known(bench: dict[str, ModuleType]) -> None:
    scores = bench["scores"]
    runs = [
        run("strong", ["a"], [], "a@44", onset=40),
        run("strong", ["a"], [], "a@60", onset=50),
        run("strong", ["a"], [], "a@60", onset=None),
    ]
    found = scores.onsets(scores.with_onsets(scores.by_rule(runs), runs))
    assert found == {"of": 2, "near": 0.5, "median_steps": 7}


def test_the_first_telling_step_is_bisected(bench: dict[str, ModuleType]) -> None:
    asked: list[int] = []

    def tells(count: int) -> bool:
        asked.append(count)
        return count >= 41

    found = bench["judged"].bisected(tells, 160)
    assert 40 <= found <= 42  # step 40 is the 41st
    assert len(asked) < 10
    assert bench["judged"].bisected(lambda _: False, 160) is None


def test_the_results_are_whole(repository: Path, results: dict[str, Any]) -> None:
    known = set((repository / "rules" / "ids.txt").read_text("utf-8").split())
    names = [record["name"] for record in results["runs"]]
    assert len(names) == len(set(names))
    for record in results["runs"]:
        assert {rule for each in record["must"] for rule in each.split("|")} <= set(record["may"])
        assert set(record["may"]) <= known
        assert not set(record["must_not"]) & set(record["may"])
        assert (record["strength"] == "off") == (not record["must"])
