"""Configuration lines ready to paste."""

from __future__ import annotations

from analyzer.findings.model import ConfigChange, Remedy
from analyzer.report.remedies import already_set, config_lines, to_do
from analyzer.report.words import load_words

WORDS = load_words("en")


def test_comments_stand_under_each_other() -> None:
    changes = [
        ConfigChange("gconfig.max_new_tokens", "4096", "8192"),
        ConfigChange("a", None, '"mask"'),
    ]
    assert config_lines(changes, known=True, words=WORDS) == (
        'gconfig.max_new_tokens: 8192    # now 4096\na: "mask"                       # not set now'
    )


def test_a_configuration_that_was_not_read_is_not_called_unset() -> None:
    remedy = Remedy("Do", "unknown", (ConfigChange("a", None, "1"),))
    (view,) = to_do([remedy], WORDS)
    assert view.config == "a: 1" and "not read" in view.note


def test_what_is_set_already_is_told_apart() -> None:
    done = Remedy("Done", "already", (ConfigChange("a", "1", "1"),))
    todo = Remedy("Do", "apply")
    assert [r.do for r in to_do([done, todo], WORDS)] == ["Do"]
    (view,) = already_set([done, todo], WORDS)
    assert view.do == "Done" and view.config.startswith("a: 1")


def test_a_very_long_line_does_not_push_the_others_comments_away() -> None:
    changes = [ConfigChange("k" * 90, "1", "2"), ConfigChange("a", "1", "2")]
    first, second = config_lines(changes, known=True, words=WORDS).splitlines()
    assert second == "a: 2    # now 1" and first.endswith(": 2  # now 1")
