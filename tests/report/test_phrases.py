"""The tool's own texts in Chinese."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Formatter

import pytest

from analyzer import pipeline
from analyzer.report.words import load_words

ZH = load_words("zh")
# Names of tests and files, JSON and what a log says stay as they are.
ENGLISH = re.compile(r"(?<![\w./(\"-])[A-Za-z]{3,}(?![\w./\"-])")
KEPT = {"Mann", "Kendall", "NaN", "false", "true", "null"}
NAMES = {"attempts", "progress", "repetition", "staleness", "entropy"}  # of series and facts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "31\u202f% at the end, 35\u202f% at worst, 80 steps beyond",
            "末尾 31\u202f%，最差 35\u202f%，80 步超出",
        ),
        ("> 5\u202f% for 5 steps", "> 5\u202f%，持续 5 步"),
        (
            "outside −10\u202f% to 10\u202f% for 5 steps",
            "在 −10\u202f% 至 10\u202f% 之外，持续 5 步",
        ),
        (
            "seq_len: +17\u202f%, 650 to 760 (Mann–Kendall, p < 0.001)",
            "seq_len：+17\u202f%, 650 → 760（Mann–Kendall，p < 0.001）",
        ),
        (
            "task_reward is not logged in this run; a needs b, which this run does not tell",
            "task_reward 在本次运行中没有记录；a 需要 b，而本次运行没有给出",
        ),
        (
            "2 lines, first at a/main.log:7: set; not set",
            "2 行，首行在 a/main.log:7：set; not set",
        ),
        ("rises by at least 0.1 and 10\u202f% of its start", "至少上升 0.1 且为起始值的 10\u202f%"),
        (
            "jumps up by at least 3 times its noise and to 2 times its level, at most 5 steps "
            "from a restart",
            "向上跳变至少为其噪声的 3 倍，且达原水平的 2 倍，距重启至多 5 步",
        ),
        ("actor.a: not set; actor.b: 5.0 (x.yaml)", "actor.a：未设置；actor.b: 5.0 (x.yaml)"),
        ("a text that nobody knows", "a text that nobody knows"),
        ("> 5\u202f%", "> 5\u202f%"),
    ],
)
def test_texts_in_chinese(text: str, said: str) -> None:
    assert ZH.phrase(text) == said


def test_english_stays() -> None:
    assert load_words("en").phrase("no such line") == "no such line"


def test_both_sides_of_a_phrase_have_the_same_placeholders(repository: Path) -> None:
    pairs = json.loads((repository / "templates/i18n/phrases/zh.json").read_text("utf-8"))
    for english, chinese in pairs:
        names = [sorted(n for _, n, _, _ in Formatter().parse(t) if n) for t in (english, chinese)]
        assert names[0] == names[1], english
        assert len(names[0]) == len(set(names[0])), english


def test_no_phrase_is_there_twice(repository: Path) -> None:
    pairs = json.loads((repository / "templates/i18n/phrases/zh.json").read_text("utf-8"))
    assert len(pairs) == len({english for english, _ in pairs})


@pytest.mark.parametrize("sample", ["length_truncation", "healthy"])
def test_what_a_sample_run_measures_has_chinese_words(
    repository: Path, tmp_path: Path, sample: str
) -> None:
    judged = pipeline.judge_run(
        repository / "sample_logs" / sample, pipeline.Settings(store=tmp_path)
    )
    verdicts = judged.verdicts.judgement
    texts = [t for f in verdicts.findings for e in f.evidence for t in (e.text, e.needed)]
    others = [check for check in verdicts.checks if check.state != "fired"]
    texts += [text for check in others for text in (check.margin, check.reason)]
    assert len(texts) > 60
    left = {
        text: words
        for text in texts
        if (words := set(ENGLISH.findall(ZH.phrase(text))) - KEPT - NAMES)
    }
    assert left == {}
