"""The results as the tables of docs/detection.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from generated_page import filled

from detection import scores

Results = Mapping[str, Any]


def with_tables(text: str, results: Results) -> str:
    """The page with its tables made from the results. Raises ValueError for a missing marker."""
    return filled(text, tables(results), "bench-detection")


def tables(results: Results) -> dict[str, str]:
    """Name → Markdown of everything that is generated."""
    runs = results["runs"]
    made = {
        "about": _about(results),
        "figures": _figures(runs),
        "scenarios": _scenarios(runs),
        "rules": _rules(runs),
        "wrong": _wrong(runs),
        "delays": _delays(runs),
        "calibration": _calibration(runs),
    }
    return {
        name: table if isinstance(table, str) else "\n".join(table) for name, table in made.items()
    }


def summary(results: Results) -> str:
    """The tables that a terminal wants."""
    made = tables(results)
    return "\n\n".join(made[name] for name in ("about", "figures", "scenarios", "rules", "wrong"))


def _about(results: Results) -> str:
    runs = results["runs"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    counts = {s: [r for r in runs if r["strength"] == s] for s in ("strong", "mild", "off")}
    parts = [
        f"{len(of_it)} {name} ({_seeds(of_it)})"
        for name, of_it in (
            ("strong", counts["strong"]),
            ("mild", counts["mild"]),
            ("healthy", counts["off"]),
        )
    ]
    return (
        f"Judged: {len(runs)} runs; {', '.join(parts)}. Trainer {results['lab_sha256'][:12]}, "
        f"rules {results['rules_sha256'][:12]}, {versions}."
    )


def _seeds(runs: Sequence[scores.Run]) -> str:
    """Which seeds, and of how many scenarios each."""
    seeds: dict[int, int] = {}
    for run in runs:
        seeds[run["seed"]] = seeds.get(run["seed"], 0) + 1
    return ", ".join(f"seed {seed} of {n} scenarios" for seed, n in sorted(seeds.items())) or "none"


def _figures(runs: Sequence[scores.Run]) -> Iterator[str]:
    found = scores.figures(runs)
    alarms, onsets = found["false_alarms"], found["onsets"]
    yield from _head(["", "rules", "last values"])
    for strength in ("strong", "mild"):
        both = found["macro_f1"][strength], found["plain_macro_f1"][strength]
        yield _row([f"macro-F1 over scenarios, {strength}", *map(_number, both)])
    both = found["rules_macro_f1"], found["plain_rules_macro_f1"]
    yield _row(["macro-F1 over rules, strong and mild", *map(_number, both)])
    both = alarms["per_100"], alarms["plain_per_100"]
    yield _row(
        [f"false alarms per 100 healthy runs ({alarms['healthy_runs']} runs)", *map(_number, both)]
    )
    near = "–" if onsets["near"] is None else f"{100 * onsets['near']:.0f} %"
    yield _row([f"onsets within 5 % of the run's length ({onsets['of']} findings)", near, "–"])
    yield _row(["median error of an onset, in steps", _number(onsets["median_steps"]), "–"])


def _scenarios(runs: Sequence[scores.Run]) -> Iterator[str]:
    ours, plain = scores.by_scenario(runs), scores.by_scenario(runs, scores.plainly)
    demands = {run["scenario"]: run["must"] for run in runs}
    yield from _head(
        [
            "scenario",
            "demanded",
            "strong: found",
            "false",
            "mild: found",
            "false",
            "last values: F1",
        ]
    )
    for name in sorted({*ours["strong"], *ours["mild"]}):
        cells = [name, "; ".join(each.replace("|", " or ") for each in demands[name])]
        for strength in ("strong", "mild"):
            count = ours[strength].get(name)
            cells += ["–", "–"] if count is None else [_share(count), str(count.false)]
        counts = [plain[s].get(name) for s in ("strong", "mild")]
        yield _row([*cells, " / ".join(_number(c.f1 if c else None) for c in counts)])


def _share(count: scores.Count) -> str:
    return f"{count.found} of {count.found + count.missed}"


def _rules(runs: Sequence[scores.Run]) -> Iterator[str]:
    plain = scores.by_rule(runs, scores.plainly)
    yield from _head(
        [
            "rule",
            "found",
            "missed",
            "false",
            "precision",
            "recall",
            "F1",
            "onset off, steps",
            "of the length",
            "last values: F1",
        ]
    )
    for name, count in scores.with_onsets(scores.by_rule(runs), runs).items():
        figures = count.precision, count.recall, count.f1
        off = "–", "–"
        if count.steps_off:
            middle = sorted(count.steps_off)[len(count.steps_off) // 2]
            off = str(middle), f"{100 * sum(count.share_off) / len(count.share_off):.1f} %"
        alone = _number(plain[name].f1) if name in plain else "–"
        counts = map(str, (count.found, count.missed, count.false))
        yield _row([name, *counts, *map(_number, figures), *off, alone])


def _wrong(runs: Sequence[scores.Run]) -> Iterator[str]:
    """Every miss and every false finding by name, so that none hides in a mean."""
    yield from _head(["run", "missed", "said without reason"])
    for run in runs:
        rules = scores.said(run)
        missed = [
            each.replace("|", " or ") for each in run["must"] if not rules & set(each.split("|"))
        ]
        severity = {f["rule"]: f["severity"] for f in run["findings"]}
        false = [f"{rule} ({severity[rule]})" for rule in sorted(rules - set(run["may"]))]
        if missed or false:
            yield _row([run["name"], ", ".join(missed) or "–", ", ".join(false) or "–"])


def _delays(runs: Sequence[scores.Run]) -> Iterator[str]:
    yield from _head(["fault", "runs", "steps until it is told, median", "most"])
    for name, of_it in scores.delays(runs).items():
        yield _row([name, *(f"{of_it[key]:g}" for key in ("runs", "median", "most"))])


def _calibration(runs: Sequence[scores.Run]) -> Iterator[str]:
    yield from _head(["confidence from", "findings", "stated, mean", "true"])
    for of_it in scores.calibration(runs):
        yield _row([f"{of_it[key]:g}" for key in ("from", "findings", "stated", "true")])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(cells: Sequence[str]) -> Iterator[str]:
    yield _row(cells)
    yield "|" + "---|" * len(cells)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".removesuffix(".00")
