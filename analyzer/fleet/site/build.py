"""Writes the site: pages, one stylesheet, one script, and the reports that are in the store."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from analyzer import __version__
from analyzer.errors import Location, RunError
from analyzer.fleet.site import wording
from analyzer.fleet.site.collect import collect_rules, collect_runs
from analyzer.fleet.site.figures import sparkline
from analyzer.fleet.site.model import SiteRule, SiteRun
from analyzer.fleet.site.pages import index_page, map_page
from analyzer.fleet.site.rule_pages import rule_page, rules_page
from analyzer.fleet.site.trends import trends_page
from analyzer.report.fonts import embedded_fonts
from analyzer.report.html import page_templates
from analyzer.resources import templates_dir
from analyzer.rulebook.load import Rulebook

MANIFEST = "site.json"  # what this program wrote into the folder
NAME = "Runs and what was found in them"


@dataclass(frozen=True)
class Site:
    """What all pages share."""

    runs: tuple[SiteRun, ...]
    rules: tuple[SiteRule, ...]
    name: str = NAME
    footer: str = f"analyzer {__version__}"


def build_site(store: Path, folder: Path, rulebook: Rulebook) -> Path:
    """Write the site of all runs of a store; its first page.

    What an earlier build wrote and this one does not is removed. Raises RunError where the store
    has no run, the folder holds something else, or it cannot be written.
    """
    runs = collect_runs(store)
    if not runs:
        hint = "analyzer batch ROOT --store DIR"
        raise RunError("no run in the store", at=Location(str(store)), hint=hint)
    site = Site(runs, collect_rules(rulebook, runs))
    texts = dict(render_pages(site))
    reports = {run.report: run.source for run in runs if run.source is not None}
    try:
        before = _earlier(folder)
        for name, text in texts.items():
            _write(folder / name, text)
        for name, source in reports.items():
            if before.get(name) != source.name or not (folder / name).is_file():
                _place(source, folder / name)
        now = {**dict.fromkeys(texts, ""), **{name: s.name for name, s in reports.items()}}
        for name in before.keys() - now.keys():
            (folder / name).unlink(missing_ok=True)
        _write(folder / MANIFEST, json.dumps(dict(sorted(now.items())), indent=0) + "\n")
    except OSError as cause:
        raise RunError(
            f"the site cannot be written: {cause.strerror or cause}",
            at=Location(str(folder)),
            hint="give another place",
        ) from cause
    return folder / "index.html"


def render_pages(site: Site) -> Iterator[tuple[str, str]]:
    """Path below the site → text, of all but the reports."""
    letters: set[str] = set()

    def page(file: str, template: str, content: object, up: str = "") -> tuple[str, str]:
        values = {"site": site, "page": content, "up": up, "here": file, **_HELPERS}
        text = page_templates().get_template(f"fleet/{template}.html.j2").render(values)
        letters.update(text)
        return file, text

    yield page("index.html", "index", index_page(site.runs))
    yield page("map.html", "map", map_page(site.runs))
    yield page("trends.html", "trends", trends_page(site.runs))
    yield page("rules.html", "rules", rules_page(site.rules, site.runs))
    for rule in site.rules:
        content = rule_page(rule, site.runs)
        yield page(f"rules/{rule.id}.html", "rule", content, up="../")
    yield "site.css", _stylesheet("".join(sorted(letters)))
    yield "site.js", (templates_dir() / "fleet" / "site.js").read_text("utf-8")


_HELPERS = {
    "words": wording.WORDS,
    "n": wording.n,
    "whole": wording.whole,
    "amount": wording.amount,
    "day": wording.day,
    "spark": lambda run: Markup(sparkline(run.curve, run.row.onset)),
}


def _stylesheet(letters: str) -> str:
    """The report's letters and styles, and the site's own on top."""
    faces = [
        f'@font-face {{ font-family: "{font.family}"; font-weight: {font.weight}; '
        f'font-style: normal; src: url({font.uri}) format("woff2"); }}\n'
        for font in embedded_fonts(letters)
    ]
    styles = [
        (templates_dir() / name).read_text("utf-8") for name in ("page.css", "fleet/site.css")
    ]
    return "".join([*faces, *styles])


def _earlier(folder: Path) -> Mapping[str, str]:
    """What an earlier build wrote. Raises RunError where the folder holds anything else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    try:
        written = json.loads((folder / MANIFEST).read_text("utf-8"))
        return {str(name): str(source) for name, source in written.items()}
    except (OSError, ValueError, AttributeError) as cause:
        raise RunError(
            f"not empty, and no site of this program is in it ({MANIFEST} is missing)",
            at=Location(str(folder)),
            hint="give an empty folder",
        ) from cause


def _write(path: Path, text: str) -> None:
    with _whole(path) as temporary:
        temporary.write_text(text, "utf-8", "replace")


def _place(source: Path, path: Path) -> None:
    """The report as a second name of the same file where that can be, else as a copy."""
    with _whole(path) as temporary:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A place to write a page at, which then becomes the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    yield temporary
    temporary.replace(path)
