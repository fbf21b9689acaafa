"""The results as the tables of docs/statistics.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generated_page import filled

from statistics_rates.simulated import effects, processes
from statistics_rates.verdicts import PLAIN, TESTS

Results = Mapping[str, Any]
HEADS = {
    "trend": "trend / OLS slope / last value",
    "shift": "shift / Pelt",
    "together": "together / Spearman's p",
    "differs": "differs / Welch",
}


def order(record: Mapping[str, Any]) -> tuple[str, str, int, float, str]:
    """Where a record stands in the file: independent of which process was done first."""
    what = record.get("process") or record["what"]
    return (
        str(record.get("for", "")),
        what,
        record["n"],
        record.get("rho", 0),
        record.get("test", ""),
    )


def with_tables(text: str, results: Results) -> str:
    """The page with its tables made from the results. Raises ValueError for a missing marker."""
    return filled(text, tables(results), "bench-statistics")


def tables(results: Results) -> dict[str, str]:
    """Name → Markdown of everything that is generated."""
    made = {"about": _about(results)}
    for test in TESTS:
        made[f"alarms of {test}"] = "\n".join(_alarms(results, test))
        if any(effect.test == test for effect in effects()):
            made[f"power of {test}"] = "\n".join(_power(results, test))
    made["places"] = "\n".join(_places(results))
    return made


def _about(results: Results) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    fewest = min(results["pairs"].values())
    power, places = results["power_pairs"], results["place_series"]
    return (
        f"Seed {results['seed']}. Pairs of series a cell: {_counts(results['pairs'])}; for spread "
        f"and differs {_counts(results['quick_pairs'])}. Trend, shift, spike and spread judge both "
        f"series of a pair, the others the pair. Pelt has fewer. The standard error of a rate p "
        f"over m series is √(p(1 − p)/m); with the fewest, {2 * fewest} series or {fewest} pairs, "
        f"a rate of 1 % is known to {_error(0.01, 2 * fewest)} or {_error(0.01, fewest)} points of "
        f"percentage. Power comes from {power} series or pairs a cell (standard error at most "
        f"{_error(0.5, power)}), places from {places} series. Made in {results['minutes']:g} "
        f"minutes by {results['processes']} processes with {versions}."
    )


def _counts(pairs: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} for n = {int(n):,}" for n, count in pairs.items())


def _error(rate: float, count: int) -> str:
    """Standard error of a rate, in percentage points."""
    return f"{100 * math.sqrt(rate * (1 - rate) / count):.1f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(cells: Sequence[str]) -> Iterator[str]:
    yield _row(cells)
    yield "|" + "---|" * len(cells)


def _percent(records: Mapping[tuple[Any, ...], Mapping[str, Any]], key: tuple[Any, ...]) -> str:
    record = records.get(key)
    return "–" if record is None else f"{100 * record['fired'] / record['of']:.1f}"


def _alarms(results: Results, test: str) -> Iterator[str]:
    records = {(r["test"], r["process"], r["n"]): r for r in results["false_alarms"]}
    lengths = [int(n) for n in results["pairs"]]
    yield from _head([f"% {HEADS.get(test, test)}", *(f"n = {n:,}" for n in lengths)])
    for process in processes():
        right = " (right)" if test in process.true else ""
        cells = []
        for n in lengths:
            names = (test, *PLAIN.get(test, ()))
            cells.append(" / ".join(_percent(records, (name, process.name, n)) for name in names))
        yield _row([process.name + right, *cells])


def _power(results: Results, test: str) -> Iterator[str]:
    found = [record for record in results["power"] if record["for"] == test]
    records = {(r["test"], r["what"], r["rho"], r["n"]): r for r in found}
    lengths = sorted({record["n"] for record in found})
    rhos = sorted({record["rho"] for record in found})
    yield from _head([f"found, % {HEADS.get(test, test)}", "ρ", *(f"n = {n:,}" for n in lengths)])
    for what in (effect.name for effect in effects() if effect.test == test):
        for rho in rhos:
            names = (test, *PLAIN.get(test, ()))
            cells = [
                " / ".join(_percent(records, (name, what, rho, n)) for name in names)
                for n in lengths
            ]
            yield _row([what, f"{rho:g}", *cells])


def _places(results: Results) -> Iterator[str]:
    yield from _head(
        ["what", "n", "ρ", "found, %", "median", "95 %", "interval has it, %", "plainly"]
    )
    for record in sorted(results["places"], key=lambda r: (r["for"] != "trend", *order(r)[1:])):
        found = record["found"]
        plain = "–"
        if record["plain_found"]:
            plain = f"{record['plain_median']:,.0f}, {record['plain_most']:,.0f}"
        errors = ["–"] * 3
        if found:
            covered = 100 * record["covered"] / found
            errors = [f"{record['median']:,.0f}", f"{record['most']:,.0f}", f"{covered:.0f}"]
        yield _row(
            [
                record["what"],
                f"{record['n']:,}",
                f"{record['rho']:g}",
                f"{100 * found / record['of']:.0f}",
                *errors,
                plain,
            ]
        )
