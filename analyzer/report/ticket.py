"""Page one as a comment for a ticket, in Markdown."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analyzer.report.page import PostmortemView
from analyzer.report.words import load_words
from analyzer.resources import templates_dir

CONFIG_LINES = 6
REPLAYS = 4
_SPECIAL = re.compile(r"([\\`*<|\[\]])")


def render_ticket(view: PostmortemView, language: str) -> str:
    """About 25 lines of Markdown: the answer, the facts, what to do, what to know."""
    words = load_words(language)
    config = [line for remedy in view.first.remedies for line in remedy.config.splitlines()]
    shown = config[:CONFIG_LINES]
    if len(config) > CONFIG_LINES:
        shown.append("# " + words("more", n=len(config) - CONFIG_LINES))
    told = [f for f in (*view.findings, *view.configuration) if f.replay is not None]
    template = _environment().get_template("ticket.md.j2")
    text = template.render(view=view, t=words, config=shown, replays=told[:REPLAYS])
    return text.strip() + "\n"


def escape_markdown(text: str) -> str:
    """Text in one line that means itself: no markup, no HTML, nobody called by an @."""
    line = " ".join(str(text).split())
    return _SPECIAL.sub(r"\\\1", line).replace("@", "@\u200b")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(templates_dir()),
        autoescape=False,  # Markdown: the filter below does it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["md"] = escape_markdown
    return environment
