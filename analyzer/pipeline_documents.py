"""The documents of a run, and what the commands beside check and report print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

from analyzer import __version__, pipeline
from analyzer.compare.model import Comparison
from analyzer.errors import AnalyzerError, Location, RunError
from analyzer.findings.exports.document import document
from analyzer.pipeline_compare import comparisons, procedures
from analyzer.pipeline_replay import Choice, Mode, replay_run, with_replays
from analyzer.project import load_project
from analyzer.sources.discover import discover
from analyzer.sources.readers import FORMATS, reader_for
from analyzer.sources.records import RunFiles

DOCUMENTS = ("html", "pdf", "json", "md")
REPORTS = Path("reports")

Say = Callable[[str], None]


def report_run(
    run: Path,
    settings: pipeline.Settings,
    out: Path | None,
    formats: Sequence[str],
    say: Say,
    replay: Mode = "auto",
    beside: Callable[[pipeline.Judged], pipeline.Judged] | None = None,
) -> list[Path]:
    """Judge a run and write its documents; the paths written, in the order of DOCUMENTS.

    `beside` adds past runs that are like it.

    Where PDF cannot be made here the others are written and `say` tells what is missing.
    """
    say(f"reading {run}")
    judged = pipeline.judge_run(run, settings)
    if replay != "off":
        judged = with_replays(judged, replay_run(run, judged, settings, Choice(replay), say))
    if beside is not None:
        judged = beside(judged)
    others = comparisons(judged, settings.language)
    folder = out or REPORTS / slug(judged.manifest.run)
    say("writing the documents")
    texts = _texts(judged, settings.language, others, formats)
    return _write(folder, texts, formats, say)


def postmortem(judged: pipeline.Judged, language: str) -> str:
    """The HTML document of a run that was judged, nothing replayed."""
    return _texts(judged, language, comparisons(judged, language), ("html",))["html"]


def slug(run: str) -> str:
    """A directory name from a run's name."""
    return re.sub(r"[^\w.-]+", "-", run).strip("-.") or "run"


def _texts(
    judged: pipeline.Judged, language: str, others: Sequence[Comparison], formats: Sequence[str]
) -> dict[str, str]:
    """HTML, Markdown and JSON, as far as they are wanted; HTML for the PDF too."""
    # Jinja, vl-convert and fonts are slow to import; `check` must not pay for them.
    from analyzer.report.compared import comparison_document
    from analyzer.report.followed import procedure_document
    from analyzer.report.html import render_html
    from analyzer.report.ticket import render_ticket
    from analyzer.report.view import build_view

    followed = procedures(judged, others, language)
    view = build_view(
        judged.verdicts.judgement,
        judged.manifest,
        judged.tables,
        tool_version=__version__,
        language=language,
        comparisons=others,
        procedures=followed,
        replays=judged.verdicts.replays,
        seen=judged.verdicts.seen,
    )
    texts = {}
    if {"html", "pdf"} & set(formats):
        texts["html"] = render_html(view, language)
    if "md" in formats:
        texts["md"] = render_ticket(view, language)
    if "json" in formats:
        data = document(judged.verdicts) | {
            "comparisons": [comparison_document(other) for other in others],
            "procedures": [procedure_document(procedure) for procedure in followed],
        }
        texts["json"] = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return texts


def _write(folder: Path, texts: dict[str, str], formats: Sequence[str], say: Say) -> list[Path]:
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in DOCUMENTS:
            if kind not in formats:
                continue
            path = folder / f"postmortem.{kind}"
            if kind == "pdf":
                content = _pdf(texts["html"], say)
                if content is None:
                    continue
            else:
                content = texts[kind].encode()
            temporary = path.with_name(path.name + ".tmp")
            temporary.write_bytes(content)
            temporary.replace(path)
            written.append(path)
    except OSError as cause:
        raise RunError(
            f"the documents cannot be written: {cause.strerror or cause}",
            at=Location(str(folder)),
            hint="give another place with --out",
        ) from cause
    return written


def _pdf(html: str, say: Say) -> bytes | None:
    from analyzer.report.pdf import PdfUnavailable, render_pdf

    try:
        return render_pdf(html)
    except PdfUnavailable as cause:
        say(str(cause))
        return None


def describe_ingest(run: Path, store: Path) -> str:
    """What was read of a run and what was left aside."""
    catalog = pipeline.open_catalog(load_project())
    found = pipeline.ingest_run(run, store, catalog)
    manifest = found.state.manifest
    lines = [f"{manifest.run}: {found.path}"]
    lines += [f"  read {s.path}: {s.format}, {s.rows:,} values" for s in manifest.sources]
    lines += [f"  left aside {s.path}: {s.reason}" for s in manifest.skipped]
    lines += [f"  note {n.source}: {n.kind}: {n.detail}" for n in manifest.notes]
    if manifest.step_count:
        lines.append(
            f"  steps {manifest.first_step}–{manifest.last_step}, {manifest.metrics} metrics, "
            f"{len(manifest.attempts)} attempt(s)"
        )
    else:
        lines.append("  no training step")
    return "\n".join(lines) + "\n"


def query_run(run: Path, query: str, store: Path, form: str) -> str:
    """The answer of a query over a run's tables, as a text table or JSON."""
    tables = pipeline.open_run(run, store, pipeline.open_catalog(load_project()))
    return render_answer(tables.sql(query), form)


def render_answer(answer: pa.Table, form: str) -> str:
    """The answer of a query as a text table or JSON."""
    if form == "json":
        return json.dumps(answer.to_pylist(), indent=2, ensure_ascii=False, default=str) + "\n"
    return _table(answer)


def _table(answer: pa.Table) -> str:
    names = answer.column_names
    rows = [["" if v is None else str(v) for v in row.values()] for row in answer.to_pylist()]
    widths = [max(len(n), *(len(row[i]) for row in rows), 0) for i, n in enumerate(names)]
    lines = ["  ".join(n.ljust(w) for n, w in zip(names, widths, strict=True)).rstrip()]
    for row in rows:
        lines.append("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    return "\n".join(lines) + "\n"


def examine(path: Path | None) -> str:
    """What this installation can do; which reader takes a file and what it sees in it."""
    if path is None:
        return "\n".join([f"analyzer {__version__}", *_formats(), *_abilities()]) + "\n"
    files = discover(path)
    if not _is_one_source(files, path):
        lines = [f"{files.name}: {path}"]
        lines += [f"  {s.relative}: {s.format}, {s.bytes:,} bytes" for s in files.sources]
        lines += [f"  {s.relative}: left aside, {s.reason}" for s in files.skipped]
        return "\n".join(lines) + "\n"
    source = files.sources[0]
    reader = reader_for(source.format, source.run)
    reading = reader.read(source.path)
    rows: dict[str, int] = {}
    for chunk in reading:
        rows[chunk.table] = rows.get(chunk.table, 0) + chunk.rows.num_rows
    lines = [f"{path}: {reader.format} ({reader.describes})"]
    lines += [f"  {count:,} rows of {table}" for table, count in rows.items()]
    lines += [f"  note: {note.kind}: {note.detail}" for note in reading.notes]
    return "\n".join(lines) + "\n"


def _is_one_source(files: RunFiles, path: Path) -> bool:
    """Is the path a file, or a folder that a reader takes as a whole?"""
    return not path.is_dir() or [source.path for source in files.sources] == [path]


def _formats() -> list[str]:
    return ["reads:", *(f"  {reader.format}: {reader.describes}" for reader in FORMATS)]


def _abilities() -> list[str]:
    torch = "installed" if find_spec("torch") else "not installed (pip install torch)"
    return ["can:", f"  PDF: {_pdf_ability()}", f"  torch: {torch}"]


def _pdf_ability() -> str:
    from analyzer.report.pdf import PdfUnavailable, render_pdf

    try:
        render_pdf("<p>x</p>")
    except (PdfUnavailable, AnalyzerError) as cause:
        return str(cause)
    return "yes"
