"""A runbook's Markdown as HTML for the page: no raw HTML, nothing loaded, headings set lower."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

LOWEST = 6
SHIFT = 3  # a runbook's first heading is the page's fourth
_RELATIVE_LINK = re.compile(r'<a href="(?!https?://|#)[^"]*">(.*?)</a>', re.DOTALL)


def runbook_html(markdown: str) -> str:
    """HTML of the runbook. Links to other files lead nowhere from here, so they become text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = min(LOWEST, int(token.tag[1:]) + SHIFT)
            token.tag = f"h{level}"
    html: str = parser.renderer.render(tokens, parser.options, {})
    return _RELATIVE_LINK.sub(r"\1", html)
