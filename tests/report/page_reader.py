"""Reads a page back: its text, its headings, its links and what it would load."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

SILENT = {"style", "title"}
VOID = {"meta", "br", "link", "img", "hr", "input"}


@dataclass
class Page(HTMLParser):
    """What a reader and a browser see of an HTML text."""

    html: str
    text: str = ""
    tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    headings: list[tuple[str, str]] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.html)
        self.close()
        if self._open:
            raise AssertionError(f"not closed: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            elif name in ("src", "srcset", "poster", "data", "xlink:href"):
                self.loads.append(value or "")
            elif name == "href":
                (self.hrefs if tag == "a" else self.loads).append(value or "")
        if tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and (not self._open or self._open.pop() != tag):
            raise AssertionError(f"</{tag}> closes nothing at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        if SILENT & set(self._open):
            return
        self.text += data
        if self.headings and {"h1", "h2", "h3"} & set(self._open):
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)
