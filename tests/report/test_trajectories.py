"""Sampled responses under a finding: head and tail, and nothing in them that acts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_parts import MadeRun
from report_runs import sick_run

from analyzer.findings.model import Trajectory
from analyzer.report.trajectories import Excerpt, excerpt, trajectory_views, visible
from analyzer.report.words import load_words

WORDS = load_words("en")
RESPONSE = Trajectory("rollout/5/1.jsonl", 120, 5, "17", 2, "aa", 4096, 900, 0.5, True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b\u200dc", "a⟨U+2066⟩b⟨U+200D⟩c"),
        ("nul\x00 bell\x07", "nul⟨U+0000⟩ bell⟨U+0007⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("你好 é", "你好 é"),
        ("x" * 61, "x" * 60 + "\u200bx"),
    ],
)
def test_what_acts_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_text_is_shown_by_its_ends() -> None:
    assert excerpt("a " * 10, 4, 4, WORDS) == Excerpt("a " * 10)
    text = "begin" + "- " * 500 + "end"
    assert excerpt(text, 5, 3, WORDS) == Excerpt("begin", "… 1,000 characters left out …", "end")


def test_the_views_of_a_finding() -> None:
    finding = replace(sick_run()[0].findings[0], trajectories=(RESPONSE,))
    texts = {("rollout/5/1.jsonl", 120): ("2+2?", "<b>4</b>")}
    (view,) = trajectory_views(finding, MadeRun({}, texts=texts), WORDS)
    assert view.label == "step 5, task 17, 4,096 tokens, reward 0.5, cut off"
    assert view.place == "rollout/5/1.jsonl:120"
    assert (view.prompt, view.completion) == (Excerpt("2+2?"), Excerpt("<b>4</b>"))
    (gone,) = trajectory_views(finding, MadeRun({}), WORDS)
    assert (gone.prompt, gone.completion) == (None, None)
