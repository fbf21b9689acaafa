"""What the runs with a finding have in common in their configuration: association, not cause."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import duckdb
import numpy as np
import numpy.typing as npt

from analyzer.errors import Location, UsageError
from analyzer.fleet.tables import is_fleet, opened
from analyzer.statistics.fdr import survivors
from analyzer.statistics.finite import Floats
from analyzer.statistics.rank import average_ranks
from analyzer.statistics.two_groups import Separation, fisher, mann_whitney

LEAST = 5  # runs on either side of every comparison
MANY = 5  # different numbers, from which a key is ranked
NOT_SET = "(not set)"
_NUMBERS_BEGIN = tuple("-0123456789")

Bools = npt.NDArray[np.bool_]
Reason = Literal["the same in all runs", "another value in each run", "no value in enough runs"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A key with a value of it, as JSON text; `other`: any value but this one.

    Of a ranked key there is no value; `other`: it falls where the first one rises.
    """

    key: str
    value: str = ""
    other: bool = False


@dataclass(frozen=True, slots=True)
class Association:
    """Settings that go with a finding. Several: no run tells one from another."""

    rule: str
    settings: tuple[Setting, ...]
    test: Literal["fisher", "mann-whitney"]
    found: Separation  # odds ratio, or rank-biserial correlation
    sick: int  # runs with the finding; of `fisher` those that have the settings
    sick_of: int
    healthy: int
    healthy_of: int
    stands: bool  # among all tests made, at the false-discovery rate asked for
    medians: tuple[float, float] | None = None  # of a ranked key: with the finding, without


@dataclass(frozen=True, slots=True)
class Looked:
    """One finding: the runs that were compared, and what was not."""

    rule: str
    sick: int
    healthy: int
    set_aside: int  # runs whose finding another one explains: on neither side
    tests: int
    left_out: tuple[tuple[Reason, int], ...]  # keys


@dataclass(frozen=True, slots=True)
class Associations:
    """The answer: everything tested, the strongest evidence first."""

    q: float
    looked: tuple[Looked, ...]
    found: tuple[Association, ...]

    @property
    def standing(self) -> tuple[Association, ...]:
        """Those that stand."""
        return tuple(a for a in self.found if a.stands)


@dataclass(frozen=True, slots=True)
class _Test:
    settings: tuple[tuple[Setting, Setting], ...]  # of a split where it is 1, and where it is 0
    values: Floats  # a run each; of a split 0 or 1; NaN: the run has no number
    ranked: bool


def associate(folder: Path, rules: Sequence[str], q: float) -> Associations:
    """Which keys and values of the configuration go with these findings, or with any.

    Of the runs where the rule was checked, those with the finding are compared with those
    without. Raises UsageError where no fleet is, or too few runs have the finding or have it not.
    """
    if not is_fleet(folder):
        raise UsageError(
            "no runs were judged here", at=Location(str(folder)), hint="analyzer batch ROOT first"
        )
    with opened(folder) as con:
        chosen = [_known(con, rule, folder) for rule in rules] or _frequent(con)
        if not chosen:
            raise UsageError(
                f"no finding that {LEAST} runs have and {LEAST} have not",
                at=Location(str(folder)),
                hint="judge more runs with `analyzer batch`",
            )
        outcomes = {rule: _outcomes(con, rule) for rule in chosen}
        config = _configuration(con)
    looked: list[Looked] = []
    found: list[Association] = []
    for rule, (sick, aside) in outcomes.items():
        told = np.array(list(sick.values()), dtype=bool)
        tests, left_out = _tests([config.get(path, {}) for path in sick], told)
        counted = tuple(sorted(left_out.items()))
        few, many = int(told.sum()), int((~told).sum())
        looked.append(Looked(rule, few, many, aside, len(tests), counted))
        found += [_tested(rule, test, told) for test in tests]
    stands = survivors([a.found.p for a in found], q)
    marked = [replace(a, stands=s) for a, s in zip(found, stands, strict=True)]
    marked.sort(key=lambda a: (a.found.p, -_strength(a), a.rule, a.settings[0].key))
    return Associations(q, tuple(looked), tuple(marked))


def _known(con: duckdb.DuckDBPyConnection, rule: str, folder: Path) -> str:
    sick, _ = _outcomes(con, rule)
    fired = sum(sick.values())
    if min(fired, len(sick) - fired) < LEAST:
        raise UsageError(
            f"{rule}: {fired} runs with it and {len(sick) - fired} without, of those where it "
            f"could be checked; {LEAST} of each are needed",
            at=Location(str(folder)),
            hint="the view `prevalence` tells for each rule in how many it fired",
        )
    return rule


def _frequent(con: duckdb.DuckDBPyConnection) -> list[str]:
    query = (
        "SELECT rule FROM outcomes WHERE NOT set_aside GROUP BY rule "
        f"HAVING least(count(*) FILTER (fired), count(*) FILTER (NOT fired)) >= {LEAST} "
        "ORDER BY rule"
    )
    return [rule for (rule,) in con.execute(query).fetchall()]


def _outcomes(con: duckdb.DuckDBPyConnection, rule: str) -> tuple[dict[str, bool], int]:
    """Path → has the run the finding? And how many runs are on neither side."""
    query = "SELECT path, fired, set_aside FROM outcomes WHERE rule = $rule ORDER BY path"
    rows = con.execute(query, {"rule": rule}).fetchall()
    sides = {path: fired for path, fired, aside in rows if not aside}
    return sides, len(rows) - len(sides)


def _configuration(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Path → key → JSON text; framework and version are keys as well."""
    query = """
        SELECT path, key, value FROM config
        UNION ALL SELECT path, 'framework', to_json(framework) FROM runs
            WHERE framework IS NOT NULL
        UNION ALL SELECT path, 'framework version', to_json(framework_version) FROM runs
            WHERE framework_version IS NOT NULL
    """
    found: dict[str, dict[str, str]] = {}
    for path, key, value in con.execute(query).fetchall():
        found.setdefault(path, {})[key] = value
    return found


def _tests(config: Sequence[Mapping[str, str]], sick: Bools) -> tuple[list[_Test], Counter[Reason]]:
    """The comparisons that these runs allow, equal ones made once, and why keys have none."""
    left_out: Counter[Reason] = Counter()
    tests: dict[bytes, _Test] = {}
    for key in sorted({key for keys in config for key in keys}):
        made = _of_key(key, [keys.get(key, NOT_SET) for keys in config], sick)
        if isinstance(made, str):
            left_out[made] += 1
            continue
        for test in made:
            same = tests.setdefault(_signature(test), test)
            if same is not test:
                tests[_signature(test)] = _together(same, test)
    return list(tests.values()), left_out


def _of_key(key: str, values: Sequence[str], sick: Bools) -> list[_Test] | Reason:
    """The comparisons of one key, or the reason why there is none."""
    counts = Counter(values)
    if len(counts) == 1:
        return "the same in all runs"
    numbers = np.array([_number(value) for value in values])
    known = np.isfinite(numbers)
    unknown = {value for value, is_known in zip(values, known, strict=True) if not is_known}
    if len(np.unique(numbers[known])) >= MANY and unknown <= {NOT_SET, "null"}:
        if min((known & sick).sum(), (known & ~sick).sum()) < LEAST:
            return "no value in enough runs"
        return [_Test(((Setting(key), Setting(key, other=True)),), numbers, ranked=True)]
    if len(counts) == len(values):
        return "another value in each run"
    usual = sorted(v for v, n in counts.items() if LEAST <= n <= len(values) - LEAST)
    if not usual:
        return "no value in enough runs"
    if len(counts) == 2:
        first, second = sorted(counts)
        return [_split((Setting(key, first), Setting(key, second)), values)]
    return [_split((Setting(key, v), Setting(key, v, other=True)), values) for v in usual]


def _split(settings: tuple[Setting, Setting], values: Sequence[str]) -> _Test:
    chosen = settings[0].value
    return _Test((settings,), np.array([v == chosen for v in values], np.float64), ranked=False)


def _order(test: _Test) -> Floats:
    """What the test goes by: the split, or the ranks; 0 where a run has no number."""
    if not test.ranked:
        return test.values
    known = np.isfinite(test.values)
    ranks = np.zeros(len(known))
    ranks[known] = average_ranks(test.values[known])
    return ranks


def _reversed(test: _Test) -> Floats:
    order = _order(test)
    if not test.ranked:
        return 1.0 - order
    return np.where(order > 0, np.count_nonzero(order) + 1 - order, 0.0)


def _signature(test: _Test) -> bytes:
    """Equal for tests that come to the same, whichever way round."""
    kind = b"ranked" if test.ranked else b"split"
    return kind + min(_order(test).tobytes(), _reversed(test).tobytes())


def _together(first: _Test, other: _Test) -> _Test:
    """One test told of the settings of both."""
    same_way = np.array_equal(_order(first), _order(other))
    settings = other.settings if same_way else tuple((b, a) for a, b in other.settings)
    return replace(first, settings=first.settings + settings)


def _tested(rule: str, test: _Test, sick: Bools) -> Association:
    """The test made; of a split, told of the side where the finding is likelier."""
    total, others = int(sick.sum()), int((~sick).sum())
    if test.ranked:
        known = np.isfinite(test.values)
        x, y = test.values[known & sick], test.values[known & ~sick]
        settings = tuple(first for first, _ in test.settings)
        middles = float(np.median(x)), float(np.median(y))
        found = mann_whitney(x, y)
        return Association(
            rule, settings, "mann-whitney", found, len(x), total, len(y), others, False, middles
        )
    chosen = test.values == 1.0
    a, b = int((chosen & sick).sum()), int((chosen & ~sick).sum())
    found = fisher(a, b, total - a, others - b)
    settings = tuple(first for first, _ in test.settings)
    if found.effect < 1.0:
        a, b = total - a, others - b
        found = fisher(a, b, total - a, others - b)
        settings = tuple(second for _, second in test.settings)
    return Association(rule, settings, "fisher", found, a, total, b, others, False)


def _strength(found: Association) -> float:
    return abs(found.found.effect)


def _number(text: str) -> float:
    """The number that JSON text is; NaN where it is none. Only a number begins so."""
    number = float(text) if text[:1] in _NUMBERS_BEGIN else math.nan
    return number if math.isfinite(number) else math.nan
