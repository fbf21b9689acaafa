"""1,000 runs in a real browser: sorted, searched and filtered, wide and narrow, without a server.

Runs where chromedriver and a browser are installed, and is skipped with the reason elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import DRIVER, KEYS, MISSING, PROGRAM, Browser, browser
from made_fleet import entries, write_store

from analyzer.fleet.rows import load_all
from analyzer.fleet.site.build import build_site
from analyzer.pipeline import Settings, open_rules

pytestmark = pytest.mark.skipif(DRIVER is None or PROGRAM is None, reason=MISSING)

RUNS = 1000
SHOWN = "return [...document.querySelectorAll('#runs tbody tr:not([hidden]) th')]"
NAMES = f"{SHOWN}.map(th => th.firstChild.textContent)"
ROWS = {entry.row.run: entry.row for entry in entries(RUNS)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    write_store(folder / "store", RUNS)
    assert len(list(load_all(folder / "store"))) == RUNS
    build_site(folder / "store", folder / "site", open_rules(Settings()).rulebook)
    return folder / "site"


@pytest.fixture(scope="module")
def window(site: Path) -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(autouse=True)
def _no_complaint(window: Browser) -> Iterator[None]:
    window.size(1400, 1000)
    yield
    assert window.log() == []


def test_the_pages_are_light(site: Path) -> None:
    assert (site / "index.html").stat().st_size < 1_000_000
    for path in site.rglob("*"):
        assert path.is_dir() or path.name == "index.html" or path.stat().st_size < 200_000


def test_sorting_and_filtering_a_thousand_runs(window: Browser, site: Path) -> None:
    window.open(site / "index.html")
    dated = sorted((r for r in ROWS.values() if r.started), key=lambda r: r.started or "")
    names = window.run(NAMES)
    assert len(names) == RUNS
    assert names[:995] == [row.run for row in reversed(dated)]

    # Hours, ascending and descending: a broken run has none, and stands last in both.
    window.click("#runs th:nth-child(7) button")
    shown = window.run(
        "return [...document.querySelectorAll('#runs tr td:nth-last-child(3)')]"
        ".map(td => td.textContent)"
    )
    hours = [float(text) for text in shown[:995]]
    assert hours == sorted(hours)
    assert shown[995:] == [""] * 5
    window.click("#runs th:nth-child(7) button")
    assert window.run(NAMES)[0] == max(dated, key=lambda row: row.hours or 0).run
    sorts = "return [...document.querySelectorAll('#runs th[aria-sort]')].map(th => th.ariaSort)"
    assert window.run(sorts) == ["descending"]

    window.click('[data-verdict="error"]')
    errors = [row for row in ROWS.values() if row.verdict == "error"]
    assert len(window.run(NAMES)) == len(errors)
    assert window.run("return document.querySelector('#shown').textContent") == (
        f"{len(errors)} of 1,000 runs"
    )
    window.type("#search", "KL-blowup math")
    wanted = [row for row in errors if row.first_finding == "kl-blowup" and "/math/" in row.path]
    assert len(window.run(NAMES)) == len(wanted) > 0

    # What was chosen is in the address: opened anew it is the same.
    part = window.run("return location.hash")
    window.open(site / "rules.html")
    window.open(site / "index.html", part)
    assert len(window.run(NAMES)) == len(wanted)
    window.type("#search", "nothing is called so")
    assert window.run(NAMES) == []
    window.click("#reset")
    assert len(window.run(NAMES)) == RUNS


def test_the_error_of_a_broken_run_is_told(window: Browser, site: Path) -> None:
    window.open(site / "index.html", "#verdict=cannot-judge")
    assert len(window.run(NAMES)) == 5
    told = window.run("return document.querySelector('tr:not([hidden]) .why').textContent")
    assert told.endswith("main.log: no reader knows this format")


def test_the_map_by_keyboard_and_pointer(window: Browser, site: Path) -> None:
    window.open(site / "map.html")
    readout = "return document.querySelector('#readout').textContent"
    assert window.run(readout).startswith("Point at a cell")
    window.run("document.querySelector('#cells').focus()")
    first = window.run(readout)
    rule = window.run("return document.querySelector('.map-rules a').textContent")
    assert f" · {rule}: " in first
    window.type("#cells", KEYS["ArrowDown"])
    rules = window.run("return [...document.querySelectorAll('.map-rules a')].map(a => a.text)")
    assert f" · {rules[1]}: " in window.run(readout)
    for _ in range(3):
        window.type("#cells", KEYS["ArrowRight"])
    name = window.run(readout).split(" · ")[0]
    assert name in ROWS
    assert name != first.split(" · ")[0]


@pytest.mark.parametrize(
    "page", ["index", "map", "trends", "rules", "rules/truncation", "rules/groups-without-spread"]
)
@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_is_wider_than_the_screen(
    window: Browser, site: Path, page: str, width: int
) -> None:
    window.size(width, 844)
    window.open(site / f"{page}.html")
    assert window.run("return [document.documentElement.scrollWidth, innerWidth]") == [width, width]
    # Every picture has words: an SVG is hidden, with its numbers as text beside it, or labelled.
    bare = "return document.querySelectorAll('svg:not([aria-hidden]):not([aria-label])').length"
    assert window.run(bare) == 0
    unnamed = (
        "return [...document.querySelectorAll('a,button,input,select')].filter(e => "
        "!(e.textContent.trim() || e.labels?.length || e.ariaLabel)).length"
    )
    assert window.run(unnamed) == 0


def test_it_works_from_a_web_server(window: Browser, site: Path) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        window.open_address(f"http://127.0.0.1:{server.server_port}/index.html")
        window.type("#search", "trial-0007")
        assert len(window.run(NAMES)) == 1
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
