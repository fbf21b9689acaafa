"""`make bench-peers`: installs the peers, runs them on the gallery and on healthy runs."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from detection import scores
from detection.__main__ import CACHE, PAGE, RESULTS
from detection.cases import REPOSITORY, Case, lab_sha256, made
from detection.judged import judging
from generated_page import as_json

from analyzer.tables.evidence import Series
from analyzer.tables.run import RunTables
from peers import table
from peers.mapping import COLUMNS, PEERS, Peer
from sample_logs.about import EXPECTED, read_about, read_expected
from sample_logs.gallery import DRAWN

DRIVERS = Path(__file__).parent / "drivers"
PEERS_RESULTS = RESULTS.with_name("peers.json")
Row = dict[str, float]
Exported = tuple[dict[str, Any], list[Row]]


def main(arguments: Sequence[str]) -> None:
    """Runs the peers on the gallery and on the healthy runs that the cache has."""
    parser = argparse.ArgumentParser(prog="make bench-peers", description=__doc__)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--page", action="store_true", help="render the results that are there")
    given = parser.parse_args(arguments)
    if not given.page:
        judged = json.loads(RESULTS.read_text("utf-8"))["runs"]
        PEERS_RESULTS.write_text(as_json(_results(judged, given.cache)), "utf-8")
    results = json.loads(PEERS_RESULTS.read_text("utf-8"))
    PAGE.write_text(table.with_table(PAGE.read_text("utf-8"), results), "utf-8")
    print(table.peers(results))


def _results(judged: Sequence[scores.Run], cache: Path) -> dict[str, object]:
    runs = [*_gallery(cache), *_healthy(judged, cache)]
    exported = {run["name"]: rows for run, rows in runs}
    said = {peer.name: _run(peer, exported, cache) for peer in PEERS}
    return {
        "installed": {name: text for name, (_, text) in said.items()},
        "runs": [
            run | {name: found.get(run["name"], []) for name, (found, _) in said.items()}
            for run, _ in runs
        ],
    }


def _gallery(cache: Path) -> Iterator[Exported]:
    """The runs of the gallery that the lab made, with what is locked of them."""
    for path in sorted((REPOSITORY / "sample_logs").glob(f"*/{EXPECTED}")):
        run = path.parent
        if run.name in DRAWN:
            continue
        about, findings = read_about(run), read_expected(run)["findings"]
        assert isinstance(findings, list)
        record = _record(f"sample_logs/{run.name}", about.must_find, about.may_find, findings)
        yield record, rows_of(judging().tables(run, cache / "stores" / f"gallery-{run.name}"))


def _healthy(
    judged: Sequence[scores.Run], cache: Path
) -> Iterator[tuple[dict[str, Any], list[Row]]]:
    """The healthy runs of the last `make bench-detection`, as far as the cache has them."""
    lab = lab_sha256()
    for run in judged:
        if run["must"]:
            continue
        folder = made(Case(run["scenario"], run["strength"], run["seed"]), cache, lab, make=False)
        if folder is not None:
            record = _record(run["name"], run["must"], run["may"], run["findings"])
            yield record, rows_of(judging().tables(folder, cache / "stores" / folder.name))


def _record(
    name: str, must: Sequence[str], may: Sequence[str], findings: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    grave = [f for f in findings if not f["suppressed"] and f["severity"] in scores.GRAVE]
    return {
        "name": name,
        "must": list(must),
        "may": list(may),
        "analyzer": sorted(finding["rule"] for finding in grave),
    }


def rows_of(tables: RunTables) -> list[Row]:
    """A row a step with the neutral columns that it has; NaN is left as it is.

    The spread of rewards is not logged; where they are 0 or 1 it follows from their mean.
    """
    rows: dict[int, Row] = {}
    for column, name in COLUMNS.items():
        series = tables.series(name)
        if isinstance(series, Series):
            for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True):
                rows.setdefault(step, {"step": step})[column] = value
    for row in rows.values():
        if row.get("reward_min") == 0 and row.get("reward_max") == 1 and 0 <= row["reward"] <= 1:
            row["reward_std"] = math.sqrt(row["reward"] * (1 - row["reward"]))
    return [rows[step] for step in sorted(rows)]


def _run(
    peer: Peer, exported: dict[str, list[Row]], cache: Path
) -> tuple[dict[str, list[str]], str]:
    """What a peer says of each run, and its version, or pip's words where it cannot be had."""
    home = cache / "peers" / f"{peer.name}-{peer.version}"
    python = home / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        command = [str(python), "-m", "pip", "install", "-q", f"{peer.name}=={peer.version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {}, done.stderr.strip().splitlines()[-1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.json"
        path.write_text(json.dumps(exported), "utf-8")
        driver = DRIVERS / f"{peer.name.replace('-', '_')}.py"
        # An interpreter of its own: this one's path is not the peer's.
        alone = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        command = [str(python), "-P", str(driver), str(path)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=alone
        )
    if done.returncode:
        return {}, f"{peer.version}, which ends in: {done.stderr.strip().splitlines()[-1]}"
    found: dict[str, list[str]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found, peer.version


if __name__ == "__main__":
    main(sys.argv[1:])
