"""The run that would answer an open question: settings, steps, cost, and how much it would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analyzer.compare.axes import axis
from analyzer.compare.metrics import NAMES
from analyzer.compare.model import CONFIDENCE
from analyzer.compare.overrides import as_arguments, as_yaml, overrides
from analyzer.compare.procedure_model import Cost, Experiment, Power
from analyzer.compare.procedure_spec import (
    BranchSpec,
    EffectSpec,
    ExperimentSpec,
    ProcedureSpec,
    QuestionSpec,
)
from analyzer.compare.proofs import scaled
from analyzer.compare.runs import WATCHED
from analyzer.compare.seed_spread import FREEDOM, assumed_spread
from analyzer.findings.model import ConfigChange
from analyzer.statistics.curves import FEWEST
from analyzer.statistics.finite import Floats, finite
from analyzer.statistics.power import (
    MOST_SEEDS,
    MOST_STEPS,
    POWER,
    noise_of,
    seeds_needed,
    steps_needed,
)
from analyzer.tables.evidence import Absent
from analyzer.tables.run import RunTables

HOUR = 3600.0
ONE_SEED = "a spread of seeds is assumed; a second seed of each side measures it"


def plan(
    procedure: ProcedureSpec,
    question: QuestionSpec,
    spec: ExperimentSpec,
    run: RunTables,
    onset: int | None,
    first_open: QuestionSpec,
) -> Experiment:
    """The experiment of an open question, for this run's framework, noise and step times.

    `onset`: the step at which what the procedure is about began in this run. `first_open`: the
    first question of its path that is open.
    """
    power, steps, note = _length(spec, run, onset)
    notes = [note] if note else []
    set_here = [key for key in spec.where_set if run.config(key) is not None]
    wanted = {key: spec.where_set[key] for key in set_here} or spec.config
    changes, left_out = overrides(wanted, run, steps)
    seeds = 1 if power is None else power.seeds
    cost = _cost(spec, run, steps, seeds) if steps is not None else None
    bits = information(procedure, question, first_open)
    return Experiment(
        procedure.id,
        question.id,
        spec.do,
        spec.role,
        changes,
        left_out,
        as_yaml(changes),
        _command(changes, run),
        power,
        cost,
        (("yes", spec.yes), ("no", spec.no)),
        bits,
        None if cost is None else bits / (cost.gpu_hours or cost.hours),
        tuple(notes),
    )


def _command(changes: Sequence[ConfigChange], run: RunTables) -> str:
    dialect = run.catalog.dialects.get(run.framework or "")
    return as_arguments(changes, dialect.command_line) if dialect else ""


def ordered(experiments: Sequence[Experiment]) -> tuple[Experiment, ...]:
    """Most information per GPU-hour first; those whose cost is not known come last."""
    return tuple(sorted(experiments, key=lambda e: (-(e.bits_per_gpu_hour or 0.0), -e.bits)))


# --- steps and cost -----------------------------------------------------------------------


def _length(
    spec: ExperimentSpec, run: RunTables, onset: int | None
) -> tuple[Power | None, int | None, str]:
    """What the number of steps comes from, the number, and what is to be said of it."""
    own = run.manifest.step_count or None
    if spec.past_onset is not None:
        if onset is None:
            return None, own, "as many steps as this run has, as it cannot be told when it began"
        before = onset - run.first_step
        note = (
            f"it began after {before:,} steps here; {spec.past_onset:,} more show whether it does"
        )
        return None, before + spec.past_onset, note
    if spec.effect is None:
        return None, spec.steps, ""
    found = _power(spec.effect, run)
    if isinstance(found, str):
        return None, own, f"{found}; as many steps as this run has are taken"
    if found.steps is None:
        return found, None, _too_small(found)
    if found.seeds > 1:
        note = (
            f"one run a side cannot tell it from what seeds may do: {found.seeds} of each are taken"
        )
        return found, found.steps, note
    return found, found.steps, ONE_SEED


def _values(name: str, run: RunTables) -> Floats | str:
    """The finite values of a series, or why there are none."""
    series = run.series(name)
    if isinstance(series, Absent):
        return series.reason
    return finite(series.steps, series.values).values


def _power(effect: EffectSpec, run: RunTables) -> Power | str:
    """The steps that show the effect, or why they cannot be worked out."""
    values = _values(effect.series, run)
    if isinstance(values, str):
        return values
    if len(values) < FEWEST:
        return f"{effect.series} has {len(values)} values, of {FEWEST} that its noise needs"
    size = scaled(effect.size, effect.times, run)
    if size is None:
        return f"{effect.times} is not known"
    confidence = 1.0 - (1.0 - CONFIDENCE) / _measures(run)
    spread = assumed_spread(effect.series, "level", np.arange(float(len(values))), values[None])
    noise = replace(noise_of(values), seeds=spread, seeds_freedom=FREEDOM)
    steps, seeds = steps_needed(noise, size, confidence), 1
    if steps is None:
        more = seeds_needed(noise, len(values), size, confidence)
        steps, seeds = (len(values), more) if more is not None else (None, 1)
    unit = run.catalog.unit(effect.series)
    return Power(
        effect.series,
        unit,
        size,
        noise.sigma,
        noise.rho,
        spread,
        steps,
        seeds,
        POWER,
        confidence,
    )


def _measures(run: RunTables) -> int:
    """How many p-values a comparison of this run has, of which one must be a discovery."""
    return len(NAMES) * max(1, sum(not isinstance(run.series(name), Absent) for name in WATCHED))


def _too_small(power: Power) -> str:
    return (
        f"neither {MOST_STEPS:,} steps nor {MOST_SEEDS} seeds a side tell such a difference of "
        f"{power.series} from noise; a larger batch makes it visible"
    )


def _cost(spec: ExperimentSpec, run: RunTables, steps: int, seeds: int) -> Cost | None:
    """Steps times the mean step of this run; None where it logs no time.

    Of several seeds a side this run is one: the others have its own step time.
    """
    times = axis(run, "time")
    if isinstance(times, Absent):
        return None
    own = float(times.ends[-1]) / len(times.ends)
    seconds = steps * own * (seeds * spec.step_time + seeds - 1)
    once = _values(spec.once, run) if spec.once is not None else ""
    if not isinstance(once, str) and len(once):
        seconds += float(np.median(once))
    gpus = run.fact("gpus")
    hours = seconds / HOUR
    return Cost(
        steps,
        2 * seeds - 1,
        own * spec.step_time,
        hours,
        hours * gpus[0] if gpus else None,
        spec.assumes,
    )


# --- information --------------------------------------------------------------------------


def information(
    procedure: ProcedureSpec, question: QuestionSpec, first_open: QuestionSpec
) -> float:
    """Bits that the answer is expected to tell of the end at which the procedure comes out.

    Every end that can still be reached from the first open question is taken as equally likely.
    One to which both answers lead, or neither, goes with either as often as with the other. The
    mutual information of answer and end: H(answer) − H(answer | end).
    """
    yes = _ends(procedure, question.yes, f"{question.id}: yes")
    no = _ends(procedure, question.no, f"{question.id}: no")
    every = yes | no | _ends(procedure, BranchSpec(ask=first_open.id), "")
    undecided = len(every) - len(yes ^ no)
    share = (len(yes - no) + undecided / 2.0) / len(every)
    return max(0.0, _entropy(share) - undecided / len(every))


def _ends(procedure: ProcedureSpec, branch: BranchSpec, name: str) -> frozenset[str]:
    """Conclusions that a branch can end at; its own name where it ends at none."""
    if branch.ask is None:
        return frozenset({branch.conclude or name})
    question = procedure.question(branch.ask)
    found = (
        _ends(procedure, way, f"{question.id}: {answer}")
        for answer, way in question.branches()
        if answer != "open"
    )
    return frozenset().union(*found)


def _entropy(share: float) -> float:
    return -sum(p * math.log2(p) for p in (share, 1.0 - share) if p > 0.0)
