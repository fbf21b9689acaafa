"""The pages of many runs: what they say, what they link to, and that they need nothing else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_fleet import entries, finding, write_store
from runs_of import write_run
from site_reader import PageReader, dead_links

from analyzer.cli import run_command
from analyzer.errors import ExitCode, RunError
from analyzer.fleet.reports import report_file
from analyzer.fleet.rows import Entry, broken, publish
from analyzer.fleet.site.build import build_site
from analyzer.fleet.site.collect import collect_runs
from analyzer.fleet.site.figures import columns, sparkline
from analyzer.fleet.site.heat import heat_map
from analyzer.fleet.site.weeks import weeks_of
from analyzer.pipeline import Settings, open_rules
from analyzer.rulebook.load import Rulebook

HEALTHY = next(entry for entry in entries(50) if entry.row.verdict == "ok")


@pytest.fixture(scope="module")
def rulebook() -> Rulebook:
    return open_rules(Settings()).rulebook


def made(name: str, *findings: dict[str, Any], started: str = "2026-05-04T10:00:00Z") -> Entry:
    """A run of 400 steps with these findings."""
    first = next((f for f in findings if f["suppressed"] is None), None)
    onset = first["onset"] if first else None
    row = replace(
        HEALTHY.row,
        path=f"/runs/{name}",
        run=name,
        started=started,
        verdict=first["severity"] if first else "ok",
        findings=len(findings),
        first_finding=first["rule"] if first else None,
        onset=onset["step"] if onset else None,
    )
    fired = {entry["rule"] for entry in findings}
    checks = [
        {"rule": rule, "state": "fired" if rule in fired else "clear", "reason": ""}
        for rule in ("truncation", "kl-blowup")
    ]
    return replace(HEALTHY, row=row, document={"findings": list(findings), "checks": checks})


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of five runs: two with truncation, one of them with more, one healthy, two broken."""
    store = tmp_path_factory.mktemp("store")
    cut = finding("truncation", "error", 100)
    gone = finding("own-rule", "warning", None)
    publish(store, made("a", cut, gone))
    publish(store, made("b", finding("truncation", "warning", 399), started="2026-05-20T00:00:00Z"))
    publish(store, made("c", {**cut, "suppressed": {"by": "x", "reason": "y", "until": None}}))
    publish(store, Entry(broken("/runs/d", "main.log: empty file"), "", "", "", None))
    publish(store, Entry(broken("/runs/<e>", "a </script><b> & c"), "", "", "", None))
    report = report_file(store, "/runs/a", HEALTHY.key)
    report.parent.mkdir()
    report.write_text("<h1>The report of a</h1>", "utf-8")
    return store


@pytest.fixture(scope="module")
def pages(five: Path, rulebook: Rulebook, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "new"
    assert build_site(five, folder, rulebook) == folder / "index.html"
    return folder


def test_the_table_of_runs(pages: Path) -> None:
    page = PageReader(pages / "index.html")
    assert "5 runs" in page.text
    assert "2 of 3 runs that could be judged have an error or a warning." in page.text
    assert page.row("a")[1:5][0] == "Error"
    assert page.row("a")[3:6] == ["truncationand 1 more", "100", "400"]
    assert page.row("c")[1] == "Nothing found"  # its only finding was set aside
    assert page.row("c")[3:5] == ["", ""]
    assert page.row("d")[1:3] == ["Not judged", "main.log: empty file"]
    assert page.row("<e>")[2] == "a </script><b> & c"
    assert "A report was written for 1 run of 5" in page.text
    # The latest first; those without a time last, by path.
    assert [row[0][0] for row in page.rows[1:]] == ["b", "a", "c", "<", "d"]
    reports = [link for link in page.links if link.startswith("runs/")]
    assert len(reports) == 1
    assert "The report of a" in (pages / reports[0]).read_text("utf-8")


def test_a_rules_page(pages: Path) -> None:
    page = PageReader(pages / "rules" / "truncation.html")
    assert "Responses are cut off at the generation limit" in page.text
    # Two of the three runs where it was checked; the suppressed finding is none.
    assert "67\u202f%" in page.text
    assert "3 checked, 0 not" in page.text
    assert "1 error and 1 warning" in page.text
    # Onsets at 100 and 399 of steps 0 to 399: 25.06 % and 100 %; the median is 62.5 %.
    assert "63\u202f%" in page.text
    assert "25 to 30 % of the run: 1; 95 to 100 % of the run: 1" in (
        pages / "rules" / "truncation.html"
    ).read_text("utf-8")
    assert [row[0] for row in page.rows[1:3]] == ["b", "a"]
    assert ["own-rule", "1", "50\u202f%"] in page.rows
    # A rule that is loaded no more has a page, and one without a finding too.
    assert "a rule that is not loaded now" in PageReader(pages / "rules/own-rule.html").text
    assert PageReader(pages / "rules/kl-blowup.html").text.count("Runs with it") == 1


def test_the_list_of_rules(pages: Path) -> None:
    page = PageReader(pages / "rules.html")
    assert page.row("truncation")[2:] == ["2", "67\u202f%", "–"]
    assert page.row("kl-blowup")[2:] == ["–", "–", "–"]
    assert [row[0] for row in page.rows[1:3]] == ["truncation", "own-rule"]


def test_no_link_is_dead_and_nothing_comes_from_elsewhere(
    rulebook: Rulebook, pages: Path, tmp_path: Path
) -> None:
    write_store(tmp_path / "store", 60)
    build_site(tmp_path / "store", tmp_path / "site", rulebook)
    for folder in (pages, tmp_path / "site"):
        assert dead_links(folder) == []
        for path in folder.rglob("*.html"):
            loaded = PageReader(path).loaded
            assert {link.rpartition("/")[2] for link in loaded} <= {"site.css", "site.js", "data:,"}
        styles = (folder / "site.css").read_text("utf-8")
        assert "@import" not in styles
        assert {found[:5] for found in re.findall(r"url\((.{5})", styles)} == {"data:"}


def test_the_data_of_the_map_cannot_leave_its_element(five: Path, rulebook: Rulebook) -> None:
    entry = made("</script><b>", finding("truncation", "error", 5))
    store = five.parent / "hostile"
    publish(store, entry)
    build_site(store, five.parent / "hostile-site", rulebook)
    text = (five.parent / "hostile-site" / "map.html").read_text("utf-8")
    data = text.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data)["runs"] == [["</script><b>", "", [[0, 2, 5]]]]
    assert "<b>" not in text


def test_the_map_by_hand(five: Path) -> None:
    drawn = heat_map(collect_runs(five))
    # Two runs, so columns of 18 px. Truncation first: it is in both; the graver run is left.
    assert drawn.rules == (("truncation", 2), ("own-rule", 1))
    assert [run.row.run for run in drawn.runs] == ["a", "b"]
    paths = dict(drawn.paths)
    assert paths["error"] == "M0 18v-16h17v16z"
    assert paths["warning"] == "M0 38v-9h17v9zM18 18v-9h17v9z"
    assert paths["info"] == ""
    assert [(c.rules, c.runs) for c in drawn.combinations] == [
        (("truncation",), 1),
        (("truncation", "own-rule"), 1),
    ]


def test_weeks_by_hand(five: Path) -> None:
    weeks = weeks_of(collect_runs(five))
    # 2026-05-04 is a Monday; the 20th lies in the week from the 18th; the one between is empty.
    assert [day.isoformat() for day in weeks.mondays] == ["2026-05-04", "2026-05-11", "2026-05-18"]
    assert weeks.runs == (2, 0, 1)
    assert weeks.verdicts["error"] == (1, 0, 0)
    assert weeks.verdicts["ok"] == (1, 0, 0)
    assert weeks.verdicts["warning"] == (0, 0, 1)
    assert [(t.rule, t.runs) for t in weeks.rules] == [
        ("truncation", (1, 0, 1)),
        ("own-rule", (1, 0, 0)),
    ]
    assert (weeks.undated, weeks.earlier) == (2, 0)


def test_figures_by_hand() -> None:
    # 100 px wide, 20 px high with 2 px of edge: 0 is at 18, 1 at 2, 0.5 at 10.
    drawn = sparkline([(10, 0.0), (15, 1.0), (20, 0.5)], 12, width=100, height=20)
    assert 'd="M0 18l50-16 50 8"' in drawn
    assert 'class="onset" d="M20 0v20"' in drawn
    assert "onset" not in sparkline([(10, 0.0), (20, 1.0)], 30)
    assert 'd="M0 10l100 0"' in sparkline([(0, 3.0), (1, 3.0)], None, width=100, height=20)
    assert sparkline([(1, 1.0)], None) == ""
    assert columns([2, 0, 4], 10, 5) == "M0 10v-5h4v5zM10 10v-10h4v10z"


def test_a_site_is_brought_up_to_date_and_nothing_else_is_written_over(
    rulebook: Rulebook, tmp_path: Path
) -> None:
    store, folder = tmp_path / "store", tmp_path / "site"
    entry = made("a", finding("own-rule", "warning", 3))
    publish(store, entry)
    report = report_file(store, entry.row.path, entry.key)
    report.parent.mkdir()
    report.write_text("first", "utf-8")
    build_site(store, folder, rulebook)
    (page,) = (folder / "runs").iterdir()
    assert page.read_text("utf-8") == "first"
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    build_site(store, folder, rulebook)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before

    # Another report, and a rule of its own that is found no more.
    publish(store, replace(made("a", finding("kl-blowup", "error", 3)), key="another"))
    report_file(store, entry.row.path, "another").write_text("second", "utf-8")
    build_site(store, folder, rulebook)
    assert page.read_text("utf-8") == "second"
    assert not (folder / "rules/own-rule.html").exists()
    assert dead_links(folder) == []

    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "index.html").write_text("mine", "utf-8")
    with pytest.raises(RunError, match="no site of this program"):
        build_site(store, tmp_path / "full", rulebook)
    assert (tmp_path / "full" / "index.html").read_text("utf-8") == "mine"
    with pytest.raises(RunError, match="no run in the store"):
        build_site(tmp_path / "nothing", tmp_path / "other", rulebook)


def test_batch_writes_the_site_with_the_reports_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        write_run(tmp_path / "runs" / f"trial-{number}", number, sick=number == 1)
    store, folder = tmp_path / "store", tmp_path / "site"
    words = ["batch", str(tmp_path / "runs"), "--store", str(store), "--jobs", "1", "--site"]

    def ran(*more: str) -> str:
        assert run_command([*words, str(folder), *more]) == ExitCode.FINDINGS
        return capsys.readouterr().err

    assert "3 runs: 3 judged, 0 unchanged" in ran()
    assert f"the site is {folder}/index.html" in ran()
    (report,) = (folder / "runs").iterdir()
    assert "gradient" in report.read_text("utf-8")
    page = PageReader(folder / "index.html")
    assert page.row("trial-1")[2].count("→") == 1
    assert page.row("trial-1")[5:7] == [
        "20",
        "0.32",
    ]  # hours: 19 minutes
    assert "3 runs: 0 judged, 3 unchanged" in ran()
    # Only what has no report is judged again.
    assert "3 runs: 2 judged, 1 unchanged" in ran("--reports", "all")
    assert len(list((folder / "runs").iterdir())) == 3
    assert dead_links(folder) == []

    again = tmp_path / "again"
    assert run_command(["site", str(again), "--store", str(store)]) == ExitCode.JUDGED
    assert capsys.readouterr().out == f"{again}/index.html\n"
    assert (again / "index.html").read_bytes() == (folder / "index.html").read_bytes()


def test_colours_are_readable_on_white() -> None:
    """At least 4.5 to 1, WCAG 2.2's AA for text."""
    styles = Path(__file__).parents[2] / "templates" / "page.css"
    colours = dict(re.findall(r"--(ink|grey|red|amber|blue|green): #(\w{6})", styles.read_text()))
    assert len(colours) == 6
    for colour in colours.values():
        assert 1.05 / (luminance(colour) + 0.05) >= 4.5


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
