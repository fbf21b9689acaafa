"""The page as HTML: whole, self-contained, complete, small."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from page_reader import Page
from report_parts import MadeRun, judgement, manifest, series, truncation
from report_runs import chinese_run, crowded_run, healthy_run, sick_run, unjudged_run, withdrawn_run

from analyzer.findings.model import ChartLine, Evidence
from analyzer.report.html import render_html
from analyzer.report.view import build_view
from analyzer.report.words import load_words

RUNS = {
    "sick": sick_run,
    "healthy": healthy_run,
    "unjudged": unjudged_run,
    "withdrawn": withdrawn_run,
    "crowded": crowded_run,
    "chinese": chinese_run,
}


@cache
def page_of(name: str) -> Page:
    """The page of a run, rendered once."""
    judged, whole, made = RUNS[name]()
    language = "zh" if name == "chinese" else "en"
    view = build_view(judged, whole, made, tool_version="1.0.0", language=language)
    return Page(render_html(view, language))


@pytest.fixture(params=RUNS)
def page(request: pytest.FixtureRequest) -> Page:
    return page_of(request.param)


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert page.loads == []
    assert set(page.tags) & {"script", "link", "img", "iframe", "object", "base"} == set()
    styles = re.findall(r"url\(([^)]*)\)", page.html)
    assert styles and all(
        uri.startswith("data:font/woff2") or uri.startswith("#") for uri in styles
    )
    assert "@import" not in page.html


def test_links_inside_the_page_lead_somewhere(page: Page) -> None:
    inside = [href[1:] for href in page.hrefs if href.startswith("#")]
    assert set(inside) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_there_is_one_first_heading_and_no_empty_one(page: Page) -> None:
    assert [tag for tag, _ in page.headings].count("h1") == 1
    assert page.headings[0][0] == "h1"
    assert all(text.strip() for _, text in page.headings)


@pytest.mark.parametrize("name", RUNS)
def test_each_unmade_check_and_each_caveat_is_told(name: str) -> None:
    judged, text = RUNS[name]()[0], page_of(name).text
    words = load_words("zh" if name == "chinese" else "en")
    for check in judged.checks:
        if check.state in ("not-checked", "error"):
            assert check.rule in text and words.phrase(check.reason) in text
    for finding in judged.findings:
        assert finding.headline in text
        if finding.counts:
            assert all(caveat in text for caveat in finding.caveats)


def test_what_the_log_says_cannot_become_markup() -> None:
    evil = "<img src=http://evil/x onerror=alert(1)>\"'&{{ 7*7 }}"
    _, whole, made = sick_run()
    finding = replace(
        truncation(),
        headline=evil,
        summary=evil,
        evidence=(Evidence("log", evil, evil, "1", None, None, None, evil),),
        runbook=evil,
        rule_text=evil,
    )
    whole = replace(whole, run=evil)
    view = build_view(judgement(finding), whole, made, tool_version="1", language="en")
    page = Page(render_html(view, "en"))
    assert "img" not in page.tags and page.loads == []
    assert "{{ 7*7 }}" in page.text and evil in page.text


def test_the_same_run_gives_the_same_bytes() -> None:
    def once() -> str:
        judged, whole, made = sick_run()
        return render_html(build_view(judged, whole, made, tool_version="1", language="en"), "en")

    assert once() == once()


def test_chinese_labels() -> None:
    page = page_of("chinese")
    assert '<html lang="zh">' in page.html
    for text in ("事后分析", "先做什么", "未检查的项目与须知", "附录：数据来源"):
        assert text in page.text


def test_a_large_run_stays_below_a_megabyte() -> None:
    """120 metrics of 5,000 noisy steps, twelve findings of four series each."""
    noise = np.random.default_rng(0)
    found = {
        f"m{i}": series(f"m{i}", f"unit{i}", f"group/m{i}/avg", noise.normal(size=5000).tolist())
        for i in range(120)
    }
    findings = [
        replace(
            truncation(),
            id=f"f{i}",
            rule=f"f{i}",
            charts=tuple(ChartLine(f"m{4 * i + k}", "evidence") for k in range(4)),
        )
        for i in range(12)
    ]
    whole = manifest(last_step=4999, step_count=5000, metrics=120)
    view = build_view(judgement(*findings), whole, MadeRun(found), tool_version="1", language="en")
    html = render_html(view, "en")
    assert html.count('class="chart"') == 12
    assert len(html.encode()) < 1_000_000
