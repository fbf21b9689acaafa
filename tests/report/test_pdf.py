"""The page as PDF, read back."""

from __future__ import annotations

import builtins
import re
from io import BytesIO
from typing import Any

import pypdf
import pytest
from report_runs import crowded_run, healthy_run, sick_run

from analyzer.report.html import render_html
from analyzer.report.pdf import PdfUnavailable, render_pdf
from analyzer.report.view import build_view


def pdf_of(run: Any) -> bytes:
    """The report of a run."""
    judged, whole, made = run
    view = build_view(judged, whole, made, tool_version="1.0.0", language="en")
    return render_pdf(render_html(view, "en"))


def texts(pdf: bytes) -> list[str]:
    """The text of each page."""
    return [page.extract_text() for page in pypdf.PdfReader(BytesIO(pdf)).pages]


def places(page: pypdf.PageObject) -> list[tuple[float, float]]:
    """Where each piece of text begins, in points from the left and from the bottom; the text of
    charts is placed inside them.
    """
    found: list[tuple[float, float]] = []

    def see(text: str, user: list[float], matrix: list[float], *rest: Any) -> None:
        x, y = matrix[4], matrix[5]
        if text.strip():
            found.append((x * user[0] + y * user[2] + user[4], x * user[1] + y * user[3] + user[5]))

    page.extract_text(visitor_text=see)
    return found


@pytest.fixture(scope="module")
def sick_pdf() -> bytes:
    return pdf_of(sick_run())


@pytest.fixture(scope="module")
def sick(sick_pdf: bytes) -> list[str]:
    return texts(sick_pdf)


@pytest.fixture(scope="module")
def crowded() -> list[str]:
    return texts(pdf_of(crowded_run()))


def test_every_page_has_run_number_version_and_hashes(sick: list[str]) -> None:
    for number, text in enumerate(sick, 1):
        assert "gsm8k-grpo/truncation-12" in text and "Postmortem" in text
        assert f"page {number} / {len(sick)}" in text
        assert "analyzer 1.0.0 · rules 3f9a12c0 · evidence sha256 " in text


def test_no_text_lies_outside_its_page(sick_pdf: bytes) -> None:
    for page in pypdf.PdfReader(BytesIO(sick_pdf)).pages:
        found, (_, _, width, height) = places(page), page.mediabox
        assert len(found) > 10
        assert all(0 <= x < width and 0 <= y < height for x, y in found)


def test_page_one_stands_alone(sick: list[str]) -> None:
    first, second, *_ = sick
    for part in ("Responses grew into", "step 151", "Do this first", "max_new_tokens: 8192"):
        assert part in first
    assert "critic-diverging" in first and "4/512" in first
    assert "Evidence" not in first and "1 · Length-driven truncation" in second


def test_a_crowded_page_one_still_stands_alone(crowded: list[str]) -> None:
    assert "and 5 more" in crowded[0] and "Not checked, and what to know" in crowded[0]
    assert "1 · Length-driven truncation" in crowded[1]


def test_no_page_is_nearly_empty(sick: list[str], crowded: list[str]) -> None:
    """The last may be short; all others hold at least ten lines beside header and footer."""
    for pages in (sick, crowded):
        assert all(len(text.splitlines()) >= 14 for text in pages[:-1])


def test_a_heading_never_stands_last(crowded: list[str]) -> None:
    headings = ("Evidence", "Consequences", "What to do", "Timeline", "Checked and clear")
    for text in crowded:
        lines = [line for line in text.splitlines() if line.strip()]
        body = [line for line in lines if not re.match(r"analyzer 1\.0|page \d|an-exp", line)]
        assert body[-1].strip() not in headings


def test_the_healthy_page() -> None:
    first = texts(pdf_of(healthy_run()))[0]
    assert "Nothing wrong in what could be checked" in first
    assert "nearest 1.03 at step 41" in first and "kl-blowup" in first


def test_the_date_is_the_runs_and_the_bytes_are_the_same(sick_pdf: bytes) -> None:
    assert pdf_of(sick_run()) == sick_pdf
    metadata = pypdf.PdfReader(BytesIO(sick_pdf)).metadata
    assert metadata is not None and metadata.creation_date is not None
    assert f"{metadata.creation_date:%Y-%m-%d %H:%M}" == "2026-03-04 10:04"
    assert "truncation-12" in str(metadata.title)


def test_only_what_is_inside_is_read(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    picture = tmp_path / "secret.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg"><text y="9">SECRET</text></svg>')
    pdf = render_pdf(f'<p>text</p><img src="{picture.as_uri()}"><img src="http://127.0.0.1:9/x">')
    assert "SECRET" not in pypdf.PdfReader(BytesIO(pdf)).pages[0].extract_text()


def test_without_pango_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def fail(name: str, *rest: Any, **more: Any) -> Any:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", fail)
    with pytest.raises(PdfUnavailable) as caught:
        render_pdf("<p>x</p>")
    assert "\n" not in str(caught.value) and "apt-get install libpango" in str(caught.value)
