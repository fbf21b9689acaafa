"""The formats of text logs, apart from the others: a tracker's console holds such text as well."""

from __future__ import annotations

from analyzer.sources.areal_text import ArealText
from analyzer.sources.console_formats import CONSOLES
from analyzer.sources.records import TextReader

TEXT_READERS: tuple[TextReader, ...] = (ArealText(), *CONSOLES)


def text_reader_of(head: bytes) -> TextReader | None:
    """The reader that takes a text which begins like this; None when none does."""
    return next((reader for reader in TEXT_READERS if reader.sniff_text(head)), None)
