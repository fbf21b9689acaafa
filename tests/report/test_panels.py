"""Which series share a panel, and what a panel's title says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_parts import MadeRun, manifest, series, sick_series, truncation

from analyzer.findings.model import ChartLine, Finding
from analyzer.report import panels
from analyzer.report.charts import Chart
from analyzer.report.clock import Clock
from analyzer.report.facts import Desk
from analyzer.report.panels import finding_picture, run_picture, whole_chart
from analyzer.report.words import load_words


@pytest.fixture
def drawn_charts(monkeypatch: pytest.MonkeyPatch) -> list[Chart]:
    """The charts that are asked for, instead of their drawing."""
    charts: list[Chart] = []

    def keep(chart: Chart) -> str:
        charts.append(chart)
        return "<svg></svg>"

    monkeypatch.setattr(panels, "chart_svg", keep)
    return charts


def draw(finding: Finding, made: MadeRun) -> None:
    """Draws the finding's picture, if it has one."""
    picture = finding_picture(finding, desk(made))
    if picture is not None:
        whole_chart(picture, desk(made), 1.0)


def desk(made: MadeRun) -> Desk:
    whole = manifest()
    return Desk(whole, made, Clock(whole, made), load_words("en"))


def test_the_sick_runs_chart(drawn_charts: list[Chart]) -> None:
    draw(truncation(), MadeRun(sick_series()))
    (chart,) = drawn_charts
    length, cut, reward = chart.panels
    assert [panel.ink for panel in chart.panels] == ["first", "wrong", "plain"]
    assert length.title == ("Sequence length, mean (tokens) · ppo_actor/seq_len/avg",)
    assert length.axis.limits == (("max_new_tokens + prompt: 4,206", 4206.0),)
    assert cut.percent and not length.percent
    assert len(reward.series) == 2 and reward.title[1].startswith("dashed: Test-set reward")
    assert (chart.onset, chart.affected, chart.span) == (151, ((151, 239),), (0, 239))


def test_series_of_other_ranges_have_their_own_panels(drawn_charts: list[Chart]) -> None:
    found = sick_series()
    found["eval_reward"] = series("eval_reward", "reward", "e", np.linspace(8, 9, 240).tolist())
    draw(truncation(), MadeRun(found))
    assert len(drawn_charts[0].panels) == 4


def test_what_an_axis_does_not_show_is_in_the_title(drawn_charts: list[Chart]) -> None:
    values = [1.0] * 240
    values[3], values[9], values[11] = float("nan"), float("inf"), 5000.0
    finding = replace(truncation(), charts=(ChartLine("g", "evidence", (("limit", 1e6),)),))
    draw(finding, MadeRun({"g": series("g", "1", "a/g", values)}))
    (title,) = drawn_charts[0].panels[0].title
    for note in ("is off the scale", "logarithmic scale", "× NaN at 1 step", "Inf at 1 step"):
        assert note in title


def test_a_name_that_is_too_long_is_broken_into_lines(drawn_charts: list[Chart]) -> None:
    found = {"g": series("g", "1", "a" * 300, [1.0, 2.0] * 120)}
    finding = replace(truncation(), charts=(ChartLine("g", "evidence"),))
    draw(finding, MadeRun(found))
    title = drawn_charts[0].panels[0].title
    assert max(map(len, title)) <= panels.TITLE_WIDTH and "".join(title).count("a") == 300


def test_without_series_there_is_no_chart(drawn_charts: list[Chart]) -> None:
    assert finding_picture(truncation(), desk(MadeRun({}))) is None
    assert run_picture(desk(MadeRun({}))) is None


def test_a_healthy_runs_chart_has_reward_length_and_weight() -> None:
    picture = run_picture(desk(MadeRun(sick_series())))
    assert picture is not None
    names = [[s.name for s in panel.series] for panel in picture.panels]
    assert names == [["task_reward", "eval_reward"], ["seq_len"], ["importance_weight"]]
    assert picture.onset is None


def test_a_picture_of_few_panels_keeps_the_one_that_is_judged() -> None:
    """The judged series is the second of three."""
    picture = finding_picture(truncation(), desk(MadeRun(sick_series())), panels=1)
    assert picture is not None
    assert [panel.ink for panel in picture.panels] == ["wrong"]
