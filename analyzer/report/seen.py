"""Past runs like this one, as the page tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer.findings.model import Finding
from analyzer.findings.numbers import format_value
from analyzer.findings.seen import PastRun, SeenBefore, SettingPair
from analyzer.report.capped import Capped, cap
from analyzer.report.order import anchor, by_cause
from analyzer.report.words import Words

SETTINGS = 4  # that differ, named of one run
RULES = 6
SAME_PLACE = 0.1  # of the run: onsets that are this near agree
ONSETS = 3
RUNS = 5


@dataclass(frozen=True, slots=True)
class SeenRow:
    """A past run with findings of this one."""

    run: str
    date: str
    report: str  # address of its postmortem; "" where none is kept
    agrees: tuple[str, ...]
    differs: tuple[str, ...]
    done: tuple[str, ...]  # what was done then
    link: str  # an address with more; "" where there is none


@dataclass(frozen=True, slots=True)
class SeenSection:
    """The section on past runs, nearest first."""

    lead: str
    runs: Capped[SeenRow]
    without: tuple[tuple[str, str], ...]  # findings that no run is like: anchor and title


def seen_section(
    seen: SeenBefore | None, findings: Sequence[Finding], words: Words
) -> SeenSection | None:
    """What the page says of past runs; None where no history was given or nothing was found."""
    counting = by_cause([finding for finding in findings if finding.counts])
    if seen is None or not counting:
        return None
    pairs = [(run, finding) for finding in counting for run in seen.of(finding.id)]
    if not pairs:
        return SeenSection(words("seen.none", n=seen.runs), cap([], RUNS), ())
    nearest: dict[str, list[tuple[PastRun, Finding]]] = {}
    for run, finding in sorted(pairs, key=lambda pair: pair[0].distance):
        nearest.setdefault(run.path, []).append((run, finding))
    rows = [_row(found, words) for found in nearest.values()]
    without = tuple(
        (anchor(finding), finding.title) for finding in counting if not seen.of(finding.id)
    )
    return SeenSection(words("seen.lead", n=seen.runs), cap(rows, RUNS), without)


def _row(found: Sequence[tuple[PastRun, Finding]], words: Words) -> SeenRow:
    """One past run with the findings it is near in."""
    run = found[0][0]
    agrees, differs = [], []
    if run.both:
        agrees.append(words("seen.both", rules=words.listed(run.both, RULES)))
    if run.here:
        differs.append(words("seen.here", rules=words.listed(run.here, RULES)))
    if run.there:
        differs.append(words("seen.there", rules=words.listed(run.there, RULES)))
    near, far = _onsets(found, words)
    for said, onsets in ((agrees, near), (differs, far)):
        if onsets:
            said.append(words("seen.onsets", onsets=words.listed(onsets, ONSETS)))
    if run.keys is None:
        differs.append(words("seen.no_config"))
    elif run.keys:
        agrees.append(words("seen.settings", same=run.keys - len(run.differ), n=run.keys))
        differs += [_setting(pair, words) for pair in run.differ[:SETTINGS]]
        if len(run.differ) > SETTINGS:
            differs.append(words("more", n=len(run.differ) - SETTINGS))
    if not run.same_rules:
        differs.append(words("seen.other_rules"))
    done = tuple(dict.fromkeys(text for past, _ in found for text in _done(past, words)))
    links = [past.note.link for past, _ in found if past.note and _is_address(past.note.link)]
    date = run.started[:10] if run.started else words("unknown")
    report = Path(run.report).as_uri() if run.report else ""
    link = links[0] if links else ""
    return SeenRow(run.run, date, report, tuple(agrees), tuple(differs), done, link)


def _onsets(
    found: Sequence[tuple[PastRun, Finding]], words: Words
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The onsets here and there: those at nearly the same place of the run, and the others."""
    near: list[str] = []
    far: list[str] = []
    for run, finding in found:
        here, there = run.shape_here, run.shape_there
        if here is None or there is None:
            continue
        said = words(
            "seen.onset",
            rule=finding.rule,
            here=format_value(here.place, "fraction"),
            there=format_value(there.place, "fraction"),
        )
        (near if abs(here.place - there.place) <= SAME_PLACE else far).append(said)
    return tuple(near), tuple(far)


def _setting(pair: SettingPair, words: Words) -> str:
    here, there = (words("none") if v is None else v for v in (pair.here, pair.there))
    return words("seen.setting", name=pair.key, here=here, there=there)


def _done(run: PastRun, words: Words) -> list[str]:
    if run.note_error:
        return [words("seen.note_error", error=run.note_error)]
    note = run.note
    if note is None:
        return []
    parts = (note.done, note.outcome, note.by, "" if _is_address(note.link) else note.link)
    return [words("list.semicolon").join(part.rstrip(".") for part in parts if part)]


def _is_address(link: str) -> bool:
    return link.startswith(("https://", "http://"))
