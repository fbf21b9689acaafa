"""The page as PDF, by WeasyPrint."""

from __future__ import annotations

from analyzer.errors import RunError

PANGO = "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"


class PdfUnavailable(RunError):
    """The libraries that draw a PDF are not there."""


def render_pdf(html: str) -> bytes:
    """The HTML as PDF, byte for byte the same each time. Raises PdfUnavailable without Pango."""
    try:
        import weasyprint  # slow to load, and fails where Pango is missing
    except (ImportError, OSError) as cause:
        raise PdfUnavailable(
            "the PDF cannot be drawn: Pango is missing", hint=f"{PANGO}, or brew install pango"
        ) from cause
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=("data",), allow_redirects=False)
    document = weasyprint.HTML(string=html, url_fetcher=fetcher)
    pdf: bytes = document.write_pdf(pdf_tags=True)
    return pdf
