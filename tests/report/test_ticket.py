"""The ticket comment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_parts import judgement, truncation
from report_runs import chinese_run, crowded_run, healthy_run, sick_run, unjudged_run, withdrawn_run

from analyzer.report import panels
from analyzer.report.ticket import escape_markdown, render_ticket
from analyzer.report.view import build_view

RUNS = [sick_run, healthy_run, unjudged_run, withdrawn_run, crowded_run, chinese_run]


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket has no picture."""
    monkeypatch.setattr(panels, "chart_svg", lambda chart: "<svg></svg>")


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_ticket_is_short(run: object, language: str) -> None:
    judged, whole, made = run()  # type: ignore[operator]
    view = build_view(judged, whole, made, tool_version="1.0.0", language=language)
    text = render_ticket(view, language)
    assert 8 <= text.count("\n") <= 30
    assert "\n\n\n" not in text and text.endswith("\n")
    assert view.first.facts[0].label in text


def test_the_sick_runs_ticket() -> None:
    judged, whole, made = sick_run()
    view = build_view(judged, whole, made, tool_version="1.0.0", language="en")
    lines = render_ticket(view, "en").splitlines()
    assert lines[0].startswith("**Error · Length-driven truncation: Responses grew into")
    assert "| Since | Affected | Now | Reward | Checks |" in lines
    assert "gconfig.max_new_tokens: 8192    # now 4096" in lines
    assert any(line.startswith("- Not logged in this run: kl_rewards") for line in lines)
    assert lines[-1].startswith("analyzer 1.0.0 · rules 3f9a12c0")


def test_text_from_a_log_is_no_markup_and_calls_nobody() -> None:
    assert escape_markdown("a|b <c>\n*d* `e` [f](g)") == r"a\|b \<c> \*d\* \`e\` \[f\](g)"
    assert "@everyone" not in escape_markdown("ask @everyone")
    finding = replace(truncation(), headline="x | y\n# z <b>")
    _, whole, made = sick_run()
    view = build_view(judgement(finding), whole, made, tool_version="1", language="en")
    assert (
        render_ticket(view, "en")
        .splitlines()[0]
        .startswith(r"**Error · Length-driven truncation: x \| y # z \<b>**")
    )
