"""A bar on standard error, where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from analyzer.replay.model.plan import Progress, Watch


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Watch | None]:
    """What `recompute` takes as `watch`; None where standard error is no terminal, or `quiet`."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("recomputing log-probs"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} tokens"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1, visible=False)

        def show(progress: Progress) -> None:
            total = progress.plan.tokens
            bar.update(task, completed=progress.tokens, total=total, visible=True)

        yield show
