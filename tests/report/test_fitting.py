"""What gives way so that page one stays one page."""

from __future__ import annotations

from dataclasses import replace

from report_parts import judgement, truncation
from report_runs import sick_run

from analyzer.findings.model import Finding, Remedy
from analyzer.report.page import FirstPage
from analyzer.report.view import build_view


def first_of(finding: Finding, language: str = "en") -> FirstPage:
    _, whole, made = sick_run()
    judged = judgement(finding)
    return build_view(judged, whole, made, tool_version="1", language=language).first


def long_caveats(count: int) -> tuple[str, ...]:
    return tuple(f"Caveat {i}. " + "It is told in a long sentence. " * 18 for i in range(count))


def test_a_roomy_page_tells_everything() -> None:
    first = first_of(truncation())
    assert len(first.remedies) == 3 and first.to_know.more == 0 and first.alone
    assert first.chart is not None and first.chart.alt.count("ppo_actor") == 3


def test_long_caveats_give_way_before_the_chart_loses_its_last_panels() -> None:
    first = first_of(replace(truncation(), caveats=long_caveats(3)))
    assert first.alone and first.chart is not None
    assert len(first.to_know.rows) + first.to_know.more == 3 and first.to_know.more > 0
    assert first.not_checked.rows and len(first.remedies) == 3


def test_what_was_not_checked_is_never_left_out() -> None:
    wordy = "It is done in a way that takes many words to say and more to do. " * 14
    remedies = tuple(Remedy(f"Do {i}", "apply", (), wordy) for i in range(4))
    first = first_of(replace(truncation(), caveats=long_caveats(6), remedies=remedies))
    assert first.alone and first.not_checked.rows and first.to_know.rows
    assert 1 <= len(first.remedies) <= 2


def test_remedies_that_gave_way_are_told_with_the_finding() -> None:
    wordy = "It is done in a way that takes many words to say and more to do. " * 14
    remedies = tuple(Remedy(f"Do {i}", "apply", (), wordy) for i in range(4))
    _, whole, made = sick_run()
    judged = judgement(replace(truncation(), remedies=remedies))
    view = build_view(judged, whole, made, tool_version="1", language="en")
    told, rest = view.first.remedies, view.findings[0].remedies
    assert [r.do for r in (*told, *rest)] == [f"Do {i}" for i in range(4)]
    assert view.findings[0].remedies_from == len(told) + 1


def test_a_chart_that_lost_panels_is_drawn_whole_with_its_finding() -> None:
    _, whole, made = sick_run()
    crowded = replace(truncation(), summary="A long sentence about this run. " * 80)
    view = build_view(judgement(crowded), whole, made, tool_version="1", language="en")
    shown, finding = view.first.chart, view.findings[0]
    assert shown is None or shown.alt.count("ppo_actor") < 3
    assert finding.chart is not None and len(finding.chart.svgs) == 3


def test_a_page_that_cannot_fit_says_so() -> None:
    first = first_of(replace(truncation(), summary="A long sentence about this run. " * 400))
    assert not first.alone and first.not_checked.rows
