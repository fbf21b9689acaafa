"""The questions that a fleet is asked, as SQL views over its tables: docs/fleet.md lists them."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from analyzer.statistics.tails import quantile

_Z = quantile(0.975)
LEAST_HEALTHY = 10  # runs, before another one is called far from them


@dataclass(frozen=True, slots=True)
class View:
    """A question as a view."""

    name: str
    answers: str  # the question
    columns: tuple[tuple[str, str], ...]  # names, separated by commas, and what they are
    query: str
    example: str  # a SELECT over it
    note: str = ""


def _wilson(sign: str) -> str:
    """A bound of Wilson's 95 % interval (1927) of the share fired / checked."""
    p, n, z2 = "(fired / checked)", "checked", f"{_Z * _Z!r}"
    root = f"sqrt({p} * (1 - {p}) / {n} + {z2} / (4 * {n} * {n}))"
    return f"({p} + {z2} / (2 * {n}) {sign} {_Z!r} * {root}) / (1 + {z2} / {n})"


_OUTCOMES = """
    SELECT checks.path, checks.rule, runs.week, runs.framework, runs.framework_version,
        runs.model, runs.task,
        state = 'fired' AND NOT coalesce(findings.suppressed, false) AS fired,
        state = 'fired' AND coalesce(findings.suppressed, false) AS set_aside
    FROM checks JOIN runs USING (path) LEFT JOIN findings USING (path, rule)
    WHERE state IN ('fired', 'clear')
"""

_PREVALENCE = f"""
    WITH told AS (
        SELECT rule, fired, set_aside, unnest([
            {{'by': 'all', 'value': 'all'}},
            {{'by': 'week', 'value': CAST(week AS VARCHAR)}},
            {{'by': 'version', 'value': framework || coalesce(' ' || framework_version, '')}},
            {{'by': 'model', 'value': model}},
            {{'by': 'task', 'value': task}}
        ]) AS side FROM outcomes
    ), counted AS (
        SELECT rule, side['by'] AS dimension, side['value'] AS value, count(*) AS checked,
            count(*) FILTER (fired) AS fired, count(*) FILTER (set_aside) AS set_aside
        FROM told GROUP BY ALL
    )
    SELECT dimension, value, rule, checked, fired, set_aside, fired / checked AS share,
        greatest(0.0, {_wilson("-")}) AS low, least(1.0, {_wilson("+")}) AS high
    FROM counted ORDER BY dimension, value, share DESC, rule
"""

_ONSETS = """
    SELECT rule, count(*) AS runs, count(findings.onset) AS with_onset,
        quantile_cont(findings.onset, 0.1) AS p10, quantile_cont(findings.onset, 0.25) AS p25,
        median(findings.onset) AS median, quantile_cont(findings.onset, 0.75) AS p75,
        quantile_cont(findings.onset, 0.9) AS p90,
        median((findings.onset - first_step) / greatest(1, last_step - first_step)) AS median_share
    FROM findings JOIN runs USING (path) WHERE NOT suppressed
    GROUP BY rule ORDER BY runs DESC, rule
"""

_ONSET_TENTHS = """
    SELECT rule, CAST(least(9, floor(10 * (findings.onset - first_step)
        / (last_step - first_step + 1))) + 1 AS INTEGER) AS tenth, count(*) AS runs
    FROM findings JOIN runs USING (path) WHERE NOT suppressed AND findings.onset IS NOT NULL
    GROUP BY ALL ORDER BY rule, tenth
"""

_LOST = """
    SELECT first_finding AS rule, findings.severity, count(*) AS runs,
        count(hours_after_onset) AS with_hours, count(gpu_hours_after_onset) AS with_gpu_hours,
        sum(hours_after_onset) AS hours, sum(gpu_hours_after_onset) AS gpu_hours,
        sum(gpu_hours_after_onset) / (SELECT sum(gpu_hours) FROM runs) AS share
    FROM runs JOIN findings ON runs.path = findings.path AND runs.first_finding = findings.rule
    GROUP BY ALL ORDER BY gpu_hours DESC NULLS LAST, hours DESC NULLS LAST, rule
"""

_HEALTHY_RANGES = """
    SELECT metric, model, task, count(*) AS runs,
        min(metrics.p05) AS lowest, quantile_cont(metrics.median, 0.05) AS median_low,
        median(metrics.median) AS median, quantile_cont(metrics.median, 0.95) AS median_high,
        max(metrics.p95) AS highest,
        quantile_cont(late, 0.05) AS late_low, quantile_cont(late, 0.25) AS late_q1,
        median(late) AS late, quantile_cont(late, 0.75) AS late_q3,
        quantile_cont(late, 0.95) AS late_high, count(late) AS late_runs,
        quantile_cont(slope, 0.05) AS slope_low, quantile_cont(slope, 0.95) AS slope_high
    FROM metrics JOIN runs USING (path) WHERE verdict IN ('ok', 'info')
    GROUP BY metric, model, task ORDER BY metric, model, task
"""

_FAR = f"""
    SELECT metrics.path, metrics.run, verdict, metrics.metric, metrics.late, late_q1, late_q3,
        ranges.late_runs AS healthy_runs,
        (metrics.late - CASE WHEN metrics.late > late_q3 THEN late_q3 ELSE late_q1 END)
            / (late_q3 - late_q1) AS distance
    FROM metrics JOIN runs USING (path) JOIN healthy_ranges AS ranges
        ON ranges.metric = metrics.metric AND ranges.model IS NOT DISTINCT FROM runs.model
        AND ranges.task IS NOT DISTINCT FROM runs.task
    WHERE late_runs >= {LEAST_HEALTHY} AND late_q3 > late_q1
        AND (metrics.late > late_q3 + 3 * (late_q3 - late_q1)
            OR metrics.late < late_q1 - 3 * (late_q3 - late_q1))
    ORDER BY abs(distance) DESC, metrics.path, metrics.metric
"""

_TOGETHER = """
    WITH seen AS (SELECT DISTINCT rule FROM findings),
    checked AS (
        SELECT path, rule, state = 'fired' AS fired FROM checks JOIN seen USING (rule)
        WHERE state IN ('fired', 'clear')
    ), pairs AS (
        SELECT a.rule, b.rule AS other, count(*) AS checked, count(*) FILTER (a.fired) AS fired,
            count(*) FILTER (b.fired) AS other_fired,
            count(*) FILTER (a.fired AND b.fired) AS together
        FROM checked AS a JOIN checked AS b ON a.path = b.path AND a.rule <> b.rule GROUP BY ALL
    ), times AS (
        SELECT a.rule, b.rule AS other, count(*) FILTER (a.onset < b.onset) AS before,
            count(*) FILTER (a.onset = b.onset) AS same,
            count(*) FILTER (a.onset > b.onset) AS after, median(b.onset - a.onset) AS steps_between
        FROM findings AS a JOIN findings AS b ON a.path = b.path AND a.rule <> b.rule GROUP BY ALL
    )
    SELECT rule, other, checked, fired, other_fired, together,
        fired * other_fired / checked AS expected, before, same, after, steps_between
    FROM pairs JOIN times USING (rule, other) ORDER BY together DESC, rule, other
"""

VIEWS = (
    View(
        "outcomes",
        "Each check that was made: did its rule fire?",
        (
            ("path, rule", "run and rule; only where the rule could be checked"),
            ("week, framework, framework_version, model, task", "of the run"),
            ("fired", "with a finding that counts"),
            ("set_aside", "with one that another finding or suppress.yaml set aside"),
        ),
        _OUTCOMES,
        "SELECT rule, count(*) FROM outcomes WHERE fired GROUP BY rule",
    ),
    View(
        "prevalence",
        "How often does each rule fire, by week, version, model and task?",
        (
            ("dimension", "`all`, `week`, `version`, `model` or `task`"),
            ("value", "of the dimension; NULL: the runs that do not tell it"),
            ("rule", "its id"),
            ("checked", "runs where the rule could be checked: the denominator"),
            ("fired, set_aside", "of these, as in `outcomes`"),
            ("share", "fired of checked"),
            ("low, high", "Wilson's 95 % interval of the share"),
        ),
        _PREVALENCE,
        "SELECT value AS week, checked, fired, share, low, high FROM prevalence "
        "WHERE dimension = 'week' AND rule = 'length-driven-truncation'",
    ),
    View(
        "onsets",
        "At which step does each finding begin?",
        (
            ("rule", "its id"),
            ("runs", "with the finding, not set aside"),
            ("with_onset", "of these, where its step is known"),
            ("p10, p25, median, p75, p90", "quantiles of the step"),
            ("median_share", "the median as a share of the run's length"),
        ),
        _ONSETS,
        "SELECT rule, runs, median, p90 FROM onsets LIMIT 10",
    ),
    View(
        "onset_tenths",
        "In which tenth of its run does each finding begin?",
        (
            ("rule", "its id"),
            ("tenth", "of the logged steps, 1 to 10"),
            ("runs", "whose finding begins there"),
        ),
        _ONSET_TENTHS,
        "SELECT tenth, runs FROM onset_tenths WHERE rule = 'entropy-collapse'",
    ),
    View(
        "lost_hours",
        "How many GPU-hours were spent after the first cause set in?",
        (
            ("rule, severity", "of the run's first finding; causes come first"),
            ("runs", "whose first finding it is"),
            ("with_hours, with_gpu_hours", "of these, where hours and GPUs are known"),
            ("hours, gpu_hours", "from its onset to the end; of the whole run where it has none"),
            ("share", "of all GPU-hours that the fleet's runs tell"),
        ),
        _LOST,
        "SELECT rule, runs, gpu_hours, share FROM lost_hours WHERE severity <> 'info'",
        "A run counts once, for its first finding. What was trained after the onset need not be "
        "useless, least of all after a notice: filter by severity.",
    ),
    View(
        "healthy_ranges",
        "Which values does a metric have in healthy runs of a model and task?",
        (
            ("metric, model, task", "NULL: runs that do not tell it"),
            ("runs", "with verdict ok or info"),
            ("lowest", "the least of the runs' 5 % quantiles"),
            ("median_low, median, median_high", "5, 50 and 95 % of the runs' medians"),
            ("highest", "the greatest of the runs' 95 % quantiles"),
            (
                "late_low, late_q1, late, late_q3, late_high",
                "5, 25, 50, 75 and 95 % of the runs' means over their last tenth",
            ),
            ("late_runs", "that have such a mean"),
            ("slope_low, slope_high", "5 and 95 % of the runs' slopes, a step"),
        ),
        _HEALTHY_RANGES,
        "SELECT model, task, runs, late_low, late, late_high FROM healthy_ranges "
        "WHERE metric = 'grad_norm'",
    ),
    View(
        "far_from_healthy",
        "Which runs end far from the healthy ones of their model and task?",
        (
            ("path, run, verdict, metric", "the run, and which of its metrics"),
            ("late", "mean over the run's last tenth"),
            ("late_q1, late_q3, healthy_runs", "quartiles of the healthy runs, and how many"),
            ("distance", "from the nearer quartile, in distances between the quartiles"),
        ),
        _FAR,
        "SELECT run, metric, late, distance FROM far_from_healthy WHERE verdict = 'ok'",
        "Listed are those more than 3 such distances outside (Tukey 1977 calls them far out), "
        f"where at least {LEAST_HEALTHY} healthy runs tell the quartiles.",
    ),
    View(
        "together",
        "Which findings come together, and which is usually first?",
        (
            ("rule, other", "two rules that fired in one run at least"),
            ("checked", "runs where both could be checked"),
            (
                "fired, other_fired, together",
                "of these; findings that were set aside count as well",
            ),
            ("expected", "what together would be if one had nothing to do with the other"),
            ("before, same, after", "runs where rule begins before, with or after other"),
            ("steps_between", "median from the onset of rule to that of other"),
        ),
        _TOGETHER,
        "SELECT other, together, expected, before, after, steps_between FROM together "
        "WHERE rule = 'entropy-collapse' ORDER BY together / expected DESC",
    ),
)


def define(con: duckdb.DuckDBPyConnection) -> None:
    """Make the views on a connection that has the tables."""
    for view in VIEWS:
        con.execute(f"CREATE VIEW {view.name} AS {view.query}")
