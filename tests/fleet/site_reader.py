"""A written site as a program sees it: links, texts, table cells."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class PageReader(HTMLParser):
    """Links, ids, and the text of every cell and element that is asked for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []  # a, link, script, img: what they point to
        self.loaded: list[str] = []  # all of these but a
        self.ids: set[str] = set()
        self.rows: list[list[str]] = []
        self.text = ""
        self._cell = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if target := found.get("href") or found.get("src"):
            self.links.append(target)
            if tag != "a":
                self.loaded.append(target)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell:
            self.rows[-1][-1] += data

    def row(self, first: str) -> list[str]:
        """The cells of the row whose first cell begins so."""
        return next(row for row in self.rows if row and row[0].startswith(first))


def dead_links(folder: Path) -> list[str]:
    """Links between the pages below a folder that lead nowhere."""
    pages = {path: PageReader(path) for path in sorted(folder.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("https://", "http://", "data:")):
                continue
            file, part = urldefrag(link)
            target = (path.parent / unquote(file)).resolve() if file else path
            if not target.is_file() or (part and part not in pages[target].ids):
                dead.append(f"{path.relative_to(folder)}: {link}")
    return dead
