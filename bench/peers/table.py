"""The peers' table of docs/detection.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generated_page import filled

from peers.mapping import PEERS, Peer

Results = Mapping[str, Any]
Run = Mapping[str, Any]


def with_table(text: str, results: Results) -> str:
    """The page with the peers' table replaced. Raises ValueError where it has no place for it."""
    return filled(text, {"peers": peers(results)}, "bench-peers")


def peers(results: Results) -> str:
    """A row a tool: what it found of all faults and of those that are its subject, and what it said
    without reason."""
    runs = results["runs"]
    faults = [run for run in runs if run["must"]]
    healthy = [run for run in runs if not run["must"]]
    rows = [
        f"{len(faults)} runs with a fault, {len(healthy)} healthy ones; findings at warning or "
        "above.",
        "",
        "| tool | version | found | of its subject | missed of it | said without reason | healthy "
        "runs with an alarm |",
        "|---|---|---|---|---|---|---|",
        _row("analyzer", "this one", faults, healthy, None),
    ]
    rows += [_row(p.name, results["installed"][p.name], faults, healthy, p) for p in PEERS]
    return "\n".join(rows)


def _row(
    name: str, version: str, faults: Sequence[Run], healthy: Sequence[Run], peer: Peer | None
) -> str:
    found = [run for run in faults if is_found(run, name, peer)]
    able = [run for run in faults if peer is None or peer.subject & demanded(run)]
    false = sum(len(without_reason(run, name, peer)) for run in faults)
    alarms = sum(bool(without_reason(run, name, peer)) for run in healthy)
    cells = [
        name,
        version,
        f"{len(found)} of {len(faults)}",
        f"{sum(run in able for run in found)} of {len(able)}",
        str(len(able) - sum(run in able for run in found)),
        str(false),
        f"{alarms} of {len(healthy)}",
    ]
    return "| " + " | ".join(cells) + " |"


def demanded(run: Run) -> set[str]:
    """All rules of a run's requirements."""
    return {rule for each in run["must"] for rule in each.split("|")}


def meanings(run: Run, name: str, peer: Peer | None) -> Iterator[set[str]]:
    """What each of a tool's findings may mean."""
    for each in run[name]:
        yield {each} if peer is None else set(peer.means.get(each, ()))


def is_found(run: Run, name: str, peer: Peer | None) -> bool:
    """Whether one of its findings may mean what was put in."""
    return any(meaning & demanded(run) for meaning in meanings(run, name, peer))


def without_reason(run: Run, name: str, peer: Peer | None) -> list[set[str]]:
    """Findings that can mean neither the fault nor a consequence of it."""
    return [meaning for meaning in meanings(run, name, peer) if not meaning & set(run["may"])]
