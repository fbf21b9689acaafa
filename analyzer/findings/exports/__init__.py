"""Findings for machines and terminals: one function a format."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.findings.exports.document import render_json
from analyzer.findings.exports.junit import render_junit
from analyzer.findings.exports.markdown import render_markdown
from analyzer.findings.exports.sarif import render_sarif
from analyzer.findings.exports.text import render_text
from analyzer.findings.model import Verdicts

EXPORTS: dict[str, Callable[[Verdicts], str]] = {
    "text": render_text,
    "json": render_json,
    "sarif": render_sarif,
    "junit": render_junit,
    "md": render_markdown,
}
