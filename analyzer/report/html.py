"""The page as one self-contained HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analyzer.report.fonts import embedded_fonts
from analyzer.report.page import PostmortemView
from analyzer.report.words import load_words
from analyzer.resources import templates_dir


@dataclass(frozen=True, slots=True)
class Styles:
    """The stylesheets, as text."""

    page: str
    screen: str
    print: str


def render_html(view: PostmortemView, language: str) -> str:
    """The document as HTML: fonts, styles and charts inside, nothing loaded from anywhere."""
    template = page_templates().get_template("postmortem.html.j2")
    values = {"view": view, "t": load_words(language), "styles": _styles()}
    letters = template.render(values, fonts=())
    return template.render(values, fonts=embedded_fonts(letters))


@cache
def page_templates() -> Environment:
    """The templates of all pages."""
    return Environment(
        loader=FileSystemLoader(templates_dir()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _styles() -> Styles:
    page, screen, paper = (
        (templates_dir() / f"{name}.css").read_text("utf-8") for name in ("page", "screen", "print")
    )
    return Styles(page, screen, paper)
