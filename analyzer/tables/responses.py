"""Sampled responses that show something: which ones, and their texts from the dumps they lie in."""

from __future__ import annotations

from pathlib import Path

import duckdb

from analyzer.errors import RunError, UsageError
from analyzer.sources.samples import dump_reader
from analyzer.tables.evidence import Response
from analyzer.tables.manifest import Manifest

SHOWN = 5

# `prompt_count` and `copies`, of all responses to the same prompt and of the same text, are there
# for the order.
_CHOSEN = """
    SELECT text_path, text_offset, step, task_id, sample_idx, prompt_hash, response_len, chars,
        reward, truncated
    FROM (SELECT *, count(*) OVER (PARTITION BY prompt_hash) AS prompt_count,
            count(*) OVER (PARTITION BY completion_hash) AS copies
        FROM samples WHERE split = 'train')
    WHERE step BETWEEN $first AND $last AND ({where})
    QUALIFY row_number() OVER (PARTITION BY {one_per} ORDER BY {order}, text_path, text_offset) = 1
    ORDER BY {order}, text_path, text_offset LIMIT {shown}
"""


def chosen_responses(
    con: duckdb.DuckDBPyConnection,
    where: str,
    order: str,
    one_per: str,
    steps: tuple[int, int] | None = None,
) -> tuple[Response, ...]:
    """Up to five training samples that fit, of those at these steps, the first in this order.

    `where` and `order` are SQL over the table `samples`. Raises UsageError where they are not.
    """
    first, last = steps or (-(2**62), 2**62)
    query = _CHOSEN.format(where=where, order=order, one_per=one_per, shown=SHOWN)
    try:
        rows = con.execute(query, {"first": first, "last": last}).fetchall()
    except duckdb.Error as cause:
        raise UsageError(f"trajectories: {str(cause).splitlines()[0]}") from cause
    return tuple(Response(*row) for row in rows)


def response_text(root: Path, manifest: Manifest, path: str, offset: int) -> tuple[str, str] | None:
    """Prompt and completion of the record at `offset` of a dump file; None: it is not there."""
    for source in manifest.sources:
        reader = dump_reader(source.format)
        if reader is None or not (path == source.path or path.startswith(f"{source.path}/")):
            continue
        try:
            sample = reader.sample_at(root / source.path, root / path, offset)
        except (OSError, RunError):
            return None
        return None if sample is None else (sample.prompt, sample.completion)
    return None
