"""Worker processes: one run at a time each, in memory of its own.

A worker that dies takes nothing with it but its run, which gets an error row; another takes its
place. Results are published by the worker; what comes back is only whether it judged.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from analyzer.errors import RunError
from analyzer.fleet.find import Found
from analyzer.fleet.judge import Judging

Done = Callable[[Found, bool], None]  # the run, and whether it was judged
Engine = Callable[[Sequence[Found], Judging, Done], None]

_SHARE = 0.8  # of the machine's memory, for all workers together
_LEAST = 2 << 30  # bytes; the libraries alone map a good part of one GiB
_RUNS_A_WORKER = 50  # then a new one: what libraries do not give back stays bounded
# Workers are copies of a process that has imported everything once and does nothing else.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


@dataclass
class _Worker:
    process: BaseProcess
    link: Connection
    run: Found
    runs: int = 1


def run_local(runs: Sequence[Found], judging: Judging, done: Done, jobs: int) -> None:
    """Judge the runs in `jobs` processes; `done` is called after each, in the order they end.

    Raises RunError when a row cannot be written.
    """
    jobs = min(jobs, len(runs))
    waiting = iter(runs)
    workers: list[_Worker] = []
    with _ended(workers):
        for run in (next(waiting, None) for _ in range(jobs)):
            if run is not None:
                workers.append(_start(run, judging, jobs))
        while workers:
            for link in wait([worker.link for worker in workers]):
                worker = next(worker for worker in workers if worker.link is link)
                done(worker.run, _result(worker, judging))
                workers.remove(worker)
                run = next(waiting, None)
                if run is not None:
                    workers.append(_next(worker, run, judging, jobs))
                else:
                    _end(worker)


def _start(run: Found, judging: Judging, jobs: int) -> _Worker:
    ours, theirs = _CONTEXT.Pipe()
    limit = memory_share(jobs)
    process = _CONTEXT.Process(target=_serve, args=(theirs, judging, limit), daemon=True)
    process.start()
    theirs.close()
    worker = _Worker(process, ours, run)
    _send(worker, run)
    return worker


def _next(worker: _Worker, run: Found, judging: Judging, jobs: int) -> _Worker:
    if worker.process.is_alive() and worker.runs < _RUNS_A_WORKER:
        worker.run, worker.runs = run, worker.runs + 1
        _send(worker, run)
        return worker
    _end(worker)
    return _start(run, judging, jobs)


def _send(worker: _Worker, run: Found | None) -> None:
    # If it has died, the reading of its result will say so.
    with suppress(OSError):
        worker.link.send(run)


def _result(worker: _Worker, judging: Judging) -> bool:
    """Did it judge? A worker that died leaves an error row for its run."""
    try:
        answer = worker.link.recv()
    except (EOFError, OSError):
        worker.process.join()
        error = f"its worker ended ({_how(worker.process.exitcode)}), perhaps for lack of memory"
        judging.fail(worker.run, error)
        return False
    if isinstance(answer, RunError):
        raise answer
    return bool(answer)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _end(worker: _Worker) -> None:
    _send(worker, None)
    worker.link.close()
    worker.process.join()


@contextmanager
def _ended(workers: list[_Worker]) -> Iterator[None]:
    """No worker outlives an error or an interrupt."""
    try:
        yield
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.process.join()


def _serve(link: Connection, judging: Judging, limit: int) -> None:
    """A worker's life: runs come in, whether each was judged goes out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the workers
    limit_memory(limit)
    work = judging.work()
    try:
        while (run := link.recv()) is not None:
            try:
                link.send(work(run))
            except RunError as cause:
                link.send(RunError(cause.message, at=cause.at, hint=cause.hint))
    except (EOFError, OSError):
        return  # the parent has gone; what was published stands


def memory_share(jobs: int) -> int:
    """Bytes that each of so many workers on this machine may have."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_LEAST, int(memory * _SHARE / jobs))


def limit_memory(limit: int) -> None:
    """Beyond it an allocation fails, and the run gets an error row."""
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        return  # a lower limit of the user's stands
