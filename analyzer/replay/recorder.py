"""Records batches while a run trains: a few lines in the trainer, and no fault of it shows there.

    recorder = Recorder("run/recorded", every=10)
    recorder.record(batch, config, step, version=step)
    recorder.close()

It needs torch and safetensors; nothing else of what the analyzer depends on.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Full, Queue
from typing import Any

from analyzer.errors import AnalyzerError
from analyzer.replay.recording.job import Batch, Job, Part, job_of, settled
from analyzer.replay.recording.settings import settings_of
from analyzer.replay.recording.writing import bytes_below, sweep, write

FREE = 2**30  # bytes that stay free on the disk: a checkpoint has to fit
AT_EXIT = 60.0  # seconds in which what waits is written when the process ends

_log = logging.getLogger("analyzer.recorder")


class Recorder:
    """Writes every `every`-th step's batch below a folder, in a thread of its own.

    `rows`: about so many of a batch's rows, whole groups (None: all). `queue`: batches that may
    wait in main memory; a further one is dropped. `disk_budget`: bytes, with what lies in the
    folder already; after that nothing is recorded. `sampling` and `trainer` are written down as
    given: temperature, top_p, top_k and dtype of the rollout engine; dtype and attention of the
    trainer. `meta`: eos_token_id, pad_token_id. `tokenizer`: its folder, for texts.

    Whatever goes wrong is a line in the log `analyzer.recorder` and counts in `dropped`.
    """

    def __init__(
        self,
        folder: str | Path,
        every: int = 10,
        rows: int | None = None,
        queue: int = 2,
        disk_budget: int = 20 * 2**30,
        framework: str = "areal",
        framework_version: str | None = None,
        conventions: str = "auto",
        sampling: Mapping[str, Any] | None = None,
        trainer: Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        tokenizer: str | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.every = every
        self.rows = rows
        self.waiting = max(queue, 1)
        self.disk_budget = disk_budget
        self.meta = dict(meta or {})
        self.about: dict[str, Any] = {
            "framework": framework,
            "framework_version": framework_version,
            "conventions": conventions,
            "sampling": dict(sampling or {}),
            "trainer": dict(trainer or {}),
            "text": None if tokenizer is None else {"tokenizer": str(tokenizer)},
        }
        self.recorded = 0
        self.dropped = 0
        self._thread: _Thread | None = None
        self._closed = False
        self._count = threading.Lock()

    def record(
        self,
        batch: Batch,
        config: object,
        step: int,
        checkpoints: Mapping[int, str | Path] | None = None,
        version: int | None = None,
        group_sizes: Sequence[int] | None = None,
        part: tuple[int, int] | None = None,
    ) -> None:
        """Record the batch of a step, if it is that step's turn: copies it, raises nothing.

        `batch`: AReaL's tensors by name, as `compute_advantages` receives or leaves them, or a
        list of such trajectories. `config`: AReaL's, whole or the actor's. `version`: the
        policy's at this step; `checkpoints`: version → folder of its weights. `group_sizes`: rows
        of each group. `part`, where this is one data-parallel rank's share of the step's batch:
        the number of its first row, and the rows of all ranks.
        """
        try:
            if self.every < 1 or step % self.every:
                return
            thread = self._running()
            if refusal := ("the recorder is closed" if self._closed else thread.refusal()):
                self._drop(step, refusal)
                return
            settings = settings_of(config)
            if version is not None:
                settings["current_version"] = int(version)
            if self.meta:
                settings["meta"] = self.meta
            paths = {str(number): str(path) for number, path in (checkpoints or {}).items()}
            about = self.about | {"checkpoints": paths}
            place = Part(*part) if part is not None else None
            thread.take(job_of(int(step), batch, settings, about, self.rows, group_sizes, place))
        except Exception as cause:  # whatever it is, the run goes on
            self._drop(step, _reason(cause))

    def close(self, timeout: float = AT_EXIT) -> None:
        """Write what waits, for at most `timeout` seconds."""
        self._closed = True
        if self._thread is not None:
            self._thread.finish(timeout)

    def _running(self) -> _Thread:
        if self._thread is None:
            self._thread = _Thread(
                self.folder, self.waiting, self.disk_budget, self._wrote, self._drop
            )
            atexit.register(self.close)
        return self._thread

    def _wrote(self, job: Job, folder: Path) -> None:
        with self._count:
            self.recorded += 1
        _log.info("step %d recorded: %s, %d bytes", job.step, folder, job.bytes)

    def _drop(self, step: object, reason: str) -> None:
        with self._count:
            self.dropped += 1
        _log.warning("step %s is not recorded: %s", step, reason)

    def __getstate__(self) -> dict[str, Any]:
        """A trainer that holds a recorder can be sent to another process."""
        state = self.__dict__ | {"_thread": None}
        del state["_count"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._count = threading.Lock()


class _Thread:
    """Writes what it takes, one batch after the other."""

    def __init__(
        self,
        folder: Path,
        waiting: int,
        budget: int,
        wrote: Callable[[Job, Path], None],
        drop: Callable[[int, str], None],
    ) -> None:
        self.folder = folder
        self.budget = budget
        self.wrote = wrote
        self.drop = drop
        self.queue: Queue[Job | None] = Queue(waiting)
        self.used: int | None = None
        self.thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self.thread.start()

    def refusal(self) -> str:
        """Why no batch is taken now; empty where one is."""
        if self.used is not None and self.used >= self.budget:
            return f"the disk budget of {self.budget:,} bytes is used up"
        return f"{self.queue.qsize()} batches wait to be written" if self.queue.full() else ""

    def take(self, job: Job) -> None:
        """Raises queue.Full where too many wait."""
        self.queue.put_nowait(job)

    def finish(self, timeout: float) -> None:
        """Write what waits and end."""
        try:
            self.queue.put(None, timeout=timeout)
        except Full:
            return
        self.thread.join(timeout)

    def _run(self) -> None:
        while (job := self.queue.get()) is not None:
            try:
                self._write(settled(job))
            except Exception as cause:  # the thread has to live for the next batch
                self.drop(job.step, _reason(cause))
            del job  # its memory, while the next one is waited for

    def _write(self, job: Job) -> None:
        if self.used is None:
            sweep(self.folder)
            self.used = bytes_below(self.folder)
        if self.used + job.bytes > self.budget:
            self.used = self.budget
            self.drop(job.step, f"the disk budget of {self.budget:,} bytes is used up")
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if (free := shutil.disk_usage(self.folder).free) - job.bytes < FREE:
            self.drop(job.step, f"{free:,} bytes are free on the disk of {self.folder}")
            return
        folder = write(self.folder, job)
        self.used += bytes_below(folder)
        self.wrote(job, folder)


def _reason(cause: Exception) -> str:
    text = " ".join(str(cause).split())
    return text if isinstance(cause, AnalyzerError) else f"{type(cause).__name__}: {text}"
