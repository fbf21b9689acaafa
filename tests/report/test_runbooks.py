"""Runbooks as HTML."""

from __future__ import annotations

from analyzer.report.runbooks import runbook_html


def test_headings_are_set_below_the_pages_own() -> None:
    html = runbook_html("# A\n\n## B\n\n###### C\n")
    assert "<h4>A</h4>" in html and "<h5>B</h5>" in html and "<h6>C</h6>" in html


def test_raw_html_is_text() -> None:
    assert "<script" not in runbook_html("<script>alert(1)</script>\n\nx <b>y</b>")


def test_nothing_is_loaded_and_links_to_files_become_text() -> None:
    html = runbook_html("![x](http://a/b.png) [page](truncation.md) [docs](https://areal.dev)")
    assert "<img" not in html and "truncation.md" not in html and "page" in html
    assert '<a href="https://areal.dev">docs</a>' in html


def test_tables_and_code_are_kept() -> None:
    html = runbook_html("| a | b |\n|---|---|\n| 1 | 2 |\n\n```yaml\nk: 1\n```\n")
    assert "<table>" in html and "k: 1" in html
