"""How tall page one is, held against the page as it is laid out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import weasyprint
from procedure_parts import procedure
from replay_parts import CONFIRMED, UNRECORDED, WRONG, replays
from report_parts import MadeRun, manifest, sick_series, truncation
from report_runs import chinese_run, crowded_run, healthy_run, sick_run, unjudged_run, withdrawn_run

from analyzer.compare.procedure_model import Procedure
from analyzer.report.budget import (
    HEIGHT,
    LEAST_SCALE,
    RESERVE,
    WIDTH,
    chart_height,
    chart_scale,
    page_height,
)
from analyzer.report.charts import ChartView
from analyzer.report.clock import Clock
from analyzer.report.facts import Desk
from analyzer.report.html import render_html
from analyzer.report.page import PostmortemView
from analyzer.report.panels import Picture, finding_picture, whole_chart
from analyzer.report.view import build_view
from analyzer.report.words import load_words

RUNS = {
    "sick": (sick_run, None),
    "unrecorded": (sick_run, UNRECORDED),
    "wrong": (sick_run, replays(WRONG)),
    "confirmed": (sick_run, replays(CONFIRMED)),
    "healthy": (healthy_run, UNRECORDED),
    "unjudged": (unjudged_run, None),
    "withdrawn": (withdrawn_run, None),
    "crowded": (crowded_run, UNRECORDED),
    "chinese": (chinese_run, None),
}
ASKED = replace(procedure(), because=("length-driven-truncation",))
INSTEAD = replace(ASKED, instead_of_remedies=ASKED.because)
CSS_PIXEL = 0.75  # points


def picture_and_desk() -> tuple[Picture, Desk]:
    whole, made = manifest(), MadeRun(sick_series())
    desk = Desk(whole, made, Clock(whole, made), load_words("en"))
    picture = finding_picture(truncation(), desk)
    assert picture is not None
    return picture, desk


def drawn_height(chart: ChartView) -> float:
    """Points that the chart takes at the page's width."""
    found = re.search(r'width="(\d+)" height="(\d+)"', chart.svgs[0])
    assert found is not None
    return int(found[2]) * WIDTH / int(found[1])


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", RUNS)
def test_page_one_is_one_page_and_as_tall_as_reckoned(name: str, language: str) -> None:
    run, replayed = RUNS[name]
    judged, whole, made = run()
    view = build_view(judged, whole, made, tool_version="1", language=language, replays=replayed)
    check_page_one(view, render_html(view, language))


def check_page_one(view: PostmortemView, html: str) -> None:
    """It is one page, and as tall as reckoned."""
    first = html[: html.index("</section>")] + "</section></main></body></html>"
    pages = weasyprint.HTML(string=first).render().pages
    assert view.first.alone and len(pages) == 1
    _, top, _, bottom = pages[0].anchors["first"]
    laid_out = (bottom - top) * CSS_PIXEL
    reckoned = page_height(view.first)
    if view.first.chart is not None:
        reckoned += drawn_height(view.first.chart)
    assert laid_out <= HEIGHT
    assert -RESERVE < reckoned - laid_out < 20


@pytest.mark.parametrize("asked", [ASKED, INSTEAD], ids=["beside", "instead"])
def test_what_procedures_say_is_reckoned(asked: Procedure) -> None:
    judged, whole, made = sick_run()
    view = build_view(judged, whole, made, tool_version="1", language="en", procedures=(asked,))
    assert view.first.decision
    check_page_one(view, render_html(view, "en"))


@pytest.mark.parametrize("scale", [LEAST_SCALE, 1.0])
def test_a_chart_is_as_tall_as_reckoned(scale: float) -> None:
    picture, desk = picture_and_desk()
    for count in (1, 2, 3):
        part = replace(picture, panels=picture.panels[:count])
        drawn = drawn_height(whole_chart(part, desk, scale))
        assert 0 <= chart_height(part, scale) - drawn < RESERVE


def test_a_chart_shrinks_to_what_is_left() -> None:
    picture, _ = picture_and_desk()
    full, least = (chart_height(picture, scale) + RESERVE for scale in (1, LEAST_SCALE))
    assert chart_scale(full + 50, picture) == 1
    assert chart_scale((full + least) / 2, picture) == pytest.approx((1 + LEAST_SCALE) / 2)
    assert chart_scale(least - 1, picture) is None
