"""The results as the tables of docs/fleet.md, and what they must meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from generated_page import filled

Results = Mapping[str, Any]
RATIO = 3.0  # of the slope pass
PEAK_MB = 2000.0


def with_tables(text: str, results: Results) -> str:
    """The page with its tables made from the results. Raises ValueError for a missing marker."""
    return filled(text, tables(results), "bench-fleet-scale")


def tables(results: Results) -> dict[str, str]:
    """Name → Markdown of everything that is generated."""
    return {
        "about scale": _about(results),
        "scale": "\n".join(_scale(results)),
        "views scale": "\n".join(_views(results)),
        "judging": _judging(results),
    }


def faults(results: Results) -> list[str]:
    """What is required and not met, in words: the ratio at the largest size, memory at each."""
    found = []
    largest = results["sizes"][-1]
    if ratio(largest) > RATIO:
        found.append(f"{largest['runs']} runs: {ratio(largest):.2f} times the slope pass")
    for record in results["sizes"]:
        peak = max(record[part]["peak_mb"] for part in ("questions", "associations"))
        if peak > PEAK_MB:
            found.append(f"{record['runs']} runs: {peak:.0f} MB")
    return found


def ratio(record: Mapping[str, Any]) -> float:
    """Processor time of the questions over that of the slope pass."""
    return float(_asked(record, " cpu") / record["slopes"]["slopes cpu"])


def _asked(record: Mapping[str, Any], kind: str = "") -> float:
    return float(sum(record["questions"][f"{p}{kind}"] for p in ("summaries", "tables", "views")))


def _about(results: Results) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return (
        f"{results['series']} metrics of {results['steps']:,} steps and {results['keys']} settings "
        f"a run; {results['cores']} processors, {results['threads']} threads, {versions}. Other "
        f"work went on meanwhile (load {results['load']:g}), so processor "
        f"times are compared."
    )


def _scale(results: Results) -> Iterator[str]:
    yield (
        "| runs | values | files | slope pass, s | summaries, s | tables, s | views, s | "
        "together / slope pass | wall / wall | peak memory | `associate`, s |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for record in results["sizes"]:
        asked, slopes = record["questions"], record["slopes"]
        wall = _asked(record) / slopes["slopes"]
        yield (
            f"| {record['runs']:,} | {record['rows'] / 1e6:g} million | {record['mb']:,} MB | "
            f"{slopes['slopes cpu']:.1f} | {asked['summaries cpu']:.1f} | "
            f"{asked['tables cpu']:.1f} | {asked['views cpu']:.1f} | {ratio(record):.2f} | "
            f"{wall:.2f} | {asked['peak_mb']:.0f} MB | "
            f"{record['associations']['associate cpu']:.1f} |"
        )


def _views(results: Results) -> Iterator[str]:
    largest = results["sizes"][-1]["questions"]
    names = [key for key in largest if key.startswith("view ") and not key.endswith(" cpu")]
    yield f"| view | processor time at {results['sizes'][-1]['runs']:,} runs, s |"
    yield "|---|---|"
    for name in names:
        yield f"| `{name.removeprefix('view ')}` | {largest[f'{name} cpu']:.2f} |"


def _judging(results: Results) -> str:
    judged = results["judged"]
    each = judged["judging cpu"] / judged["runs"]
    largest = results["sizes"][-1]
    passes = largest["runs"] * each / largest["slopes"]["slopes cpu"]
    return (
        f"Judging one such run by all {judged['rules']:g} rules takes {each:.1f} s "
        f"({judged['runs']} runs measured), after its log was read. For {largest['runs']:,} runs "
        f"that would be {passes:.0f} slope passes. Making and writing their rows took "
        f"{largest['questions']['rows cpu']:.1f} s."
    )
