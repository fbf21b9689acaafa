"""The samples table: the parts of all dumps, with what the rest of the run says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from analyzer.tables.catalog import Catalog
from analyzer.tables.part_files import PARTS
from analyzer.tables.schema import SAMPLES
from analyzer.tables.state import SourceState

# Was a response cut off? The dump may say. Else one with an end-of-turn mark was not; one as long
# as generation allows was; where neither is known, one without a mark was if the others of its dump
# have them.
_ROWS = """
    SELECT $run AS run, coalesce(attempt, 0) AS attempt, raw.step, split,
        task_id, sample_idx, prompt_len, seq_len - prompt_len AS response_len, seq_len,
        reward, correct, head_version, tail_version,
        CASE WHEN head_version <= raw.step THEN raw.step - head_version END AS staleness,
        CASE WHEN truncated IS NOT NULL THEN truncated
             WHEN ended THEN false
             WHEN $limit IS NOT NULL AND seq_len IS NOT NULL AND prompt_len IS NOT NULL
                 THEN seq_len - prompt_len >= $limit
             WHEN marked THEN true END AS truncated,
        prompt_hash, completion_hash,
        CASE text_path WHEN '' THEN raw.source ELSE raw.source || '/' || text_path END AS text_path,
        text_offset, text_bytes, chars, ended, empty, mid_sentence, has_answer, distinct_ngrams,
        repetition, loop_share, loops, foreign_share, raw.source
    FROM raw_samples AS raw
    JOIN (SELECT source, bool_or(ended) AS marked FROM raw_samples GROUP BY source) AS dumps
        ON dumps.source = raw.source
    LEFT JOIN (SELECT step, max(attempt) AS attempt FROM rows GROUP BY step) AS steps
        ON steps.step = raw.step
"""
# A dump that was read at once is in its own order; to sort it would take memory for all of it.
_SORTED = _ROWS + "    ORDER BY split, raw.step, raw.source, text_path, text_offset"


def sample_rows(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[SourceState],
    home: Path,
    run: str,
    catalog: Catalog,
) -> pa.RecordBatchReader | pa.Table:
    """The rows of the samples table; needs the table `rows` and config.parquet."""
    parts = [
        f"SELECT *, {literal(source.path)} AS source FROM read_parquet({literal(path)})"
        for source in sources
        for name, _, _ in source.parts
        if (path := home / PARTS / f"{name}.samples.parquet").exists()
    ]
    if not parts:
        return SAMPLES.empty_table()
    con.execute(f"CREATE TEMP VIEW raw_samples AS {' UNION ALL '.join(parts)}")
    limit = _generation_limit(con, home, catalog)
    query = _ROWS if len(parts) == 1 else _SORTED
    return con.sql(query, params={"run": run, "limit": limit}).to_arrow_reader(20_480)


def literal(text: object) -> str:
    """A text as an SQL literal."""
    return "'" + str(text).replace("'", "''") + "'"


def _generation_limit(con: duckdb.DuckDBPyConnection, home: Path, catalog: Catalog) -> float | None:
    """The longest response that the configuration allows, in tokens."""
    fact = catalog.facts.get("max_new_tokens")
    config = f"read_parquet({literal(home / 'config.parquet')})"
    for way in fact.ways if fact else ():
        found = con.execute(
            f"SELECT try_cast(value AS DOUBLE) FROM {config} WHERE key = $key", {"key": way.config}
        ).fetchall()
        if found and found[0][0] is not None:
            return float(found[0][0])
    return None


@dataclass(frozen=True, slots=True)
class Sampled:
    """How many samples there are, and the steps of those of training."""

    samples: int
    first: int | None
    last: int | None
    steps: int


def sampled(con: duckdb.DuckDBPyConnection, home: Path) -> Sampled:
    """What the samples table holds."""
    ((samples, first, last, steps),) = con.execute(
        "SELECT count(*), min(step) FILTER (split = 'train'), max(step) FILTER (split = 'train'), "
        "count(DISTINCT step) FILTER (split = 'train') "
        f"FROM read_parquet({literal(home / 'samples.parquet')})"
    ).fetchall()
    return Sampled(samples, first, last, steps)
