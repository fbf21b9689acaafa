"""What a source hands on: Arrow record batches, the notes it made and the facts it met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")

# `attempt` is the source's own count of restarts (0, 1, …); tables/ merges those of all sources.
METRIC_ROWS = pa.schema(
    [
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("step", pa.int64(), nullable=False),
        pa.field("log_step", pa.int64()),
        pa.field("metric", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("value", pa.float64(), nullable=False),
        pa.field("wall_time", TIMESTAMP),
    ]
)

EVENT_ROWS = pa.schema(
    [
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("step", pa.int64()),
        pa.field("wall_time", TIMESTAMP),
        pa.field("level", pa.string(), nullable=False),
        pa.field("logger", pa.string(), nullable=False),
        pa.field("message", pa.string(), nullable=False),
        pa.field("repeats", pa.int32(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
    ]
)

CONFIG_ROWS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),  # JSON text
    ]
)

# One row a sampled response. Texts are not copied: `text_path` is the dump file, relative to the
# dump, and `text_offset` its record: the byte in a file of lines, the row in Parquet, the index in
# a pickle. `text_bytes` is the line's length, where it is one.
SAMPLE_ROWS = pa.schema(
    [
        pa.field("step", pa.int64()),
        pa.field("split", pa.string(), nullable=False),  # train, eval
        pa.field("task_id", pa.string()),
        pa.field("sample_idx", pa.int32()),
        pa.field("prompt_len", pa.int32()),  # tokens
        pa.field("seq_len", pa.int32()),  # tokens, prompt and response
        pa.field("reward", pa.float64()),
        pa.field("correct", pa.bool_()),
        pa.field("head_version", pa.int64()),  # weights that wrote the first token
        pa.field("tail_version", pa.int64()),  # and the last
        pa.field("truncated", pa.bool_()),  # as the dump says
        pa.field("prompt_hash", pa.string(), nullable=False),
        pa.field("completion_hash", pa.string(), nullable=False),
        pa.field("text_path", pa.string(), nullable=False),
        pa.field("text_offset", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64()),
        pa.field("chars", pa.int32(), nullable=False),
        pa.field("ended", pa.bool_(), nullable=False),
        pa.field("empty", pa.bool_(), nullable=False),
        pa.field("mid_sentence", pa.bool_(), nullable=False),
        pa.field("has_answer", pa.bool_(), nullable=False),
        pa.field("distinct_ngrams", pa.float64()),
        pa.field("repetition", pa.float64(), nullable=False),
        pa.field("loop_share", pa.float64(), nullable=False),
        pa.field("loops", pa.bool_(), nullable=False),
        pa.field("foreign_share", pa.float64()),
    ]
)

# The files of a dump that have been read: what tells that one grew or changed.
DUMP_FILE_ROWS = pa.schema(
    [
        pa.field("folder", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("mtime_ns", pa.int64(), nullable=False),
        pa.field("taken", pa.int64(), nullable=False),  # bytes up to the last whole record
        pa.field("sha256", pa.binary(32), nullable=False),  # of those bytes
    ]
)

SCHEMAS = {
    "metrics": METRIC_ROWS,
    "events": EVENT_ROWS,
    "config": CONFIG_ROWS,
    "samples": SAMPLE_ROWS,
    "files": DUMP_FILE_ROWS,
}

Table = Literal["metrics", "events", "config", "samples", "files"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows of one table, at most a few tens of thousands."""

    table: Table
    rows: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the data that a reader of the report should know."""

    kind: str  # kebab-case: cut-table, bad-checksum, cut-record, …
    detail: str
    first_step: int | None = None
    last_step: int | None = None
    line: int | None = None  # or record, in a binary file


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a grown file can be read on from, and what the next reading hands on once more.

    Rows of the file's unfinished end are handed on too. A reading that starts from here repeats
    them: the last `metrics_after` metric rows and `events_after` event rows of the source are to
    be dropped before its rows are added, and so are notes with a line after `line`. Equal events
    are counted in one row, so a text log repeats all of its events; facts are complete each time.
    """

    offset: int  # bytes; the next reading starts here
    line: int  # lines (or records) before the offset
    state: str  # the reader's own, opaque to others
    metrics_after: int = 0
    events_after: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """What a source says of its run beside rows. None: it does not say."""

    framework: str | None = None
    framework_version: str | None = None
    experiment: str | None = None
    trial: str | None = None
    total_steps: int | None = None
    steps_per_epoch: int | None = None
    finished: bool | None = None  # the log says that training completed
    has_utc: bool = True  # wall_time is known to be UTC, not a local clock
    tracker_run: str | None = None  # the tracker's id: files that share it go on one another


@dataclass
class Reading:
    """One pass over a file: iterate it to the end, then look at the fields."""

    chunks: Iterator[Chunk]
    notes: list[Note] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    resume: Resume | None = None
    digits: int | None = None  # of the values of this file, where not those of the format

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks


Role = Literal[
    "log",  # what a run itself printed: a console, a text log
    "tracker",  # series that a tracker, or a logger of metrics, wrote beside it
    "config",
    "samples",  # rollouts, completions
]


@dataclass(frozen=True, slots=True)
class Kin:
    """By what two sources of a format are known to tell the same run.

    Sources that share a name are of one run and are all read. Of two sources one of which has all
    marks of the other, the smaller is a copy and left aside. Where neither says anything, the
    folders decide.
    """

    names: frozenset[str] = frozenset()  # the tracker's id of the run, "project/name" …
    marks: frozenset[bytes] = frozenset()  # lines that a run writes once: its steps
    begins_run: bool = True  # False: without marks it only helps another, as a worker's log does
    label: str | None = None  # what people call the run


class Format(Protocol):
    """A format that is read. The last three fields are its row in docs/sources.md."""

    format: str  # "areal-text"
    describes: str  # one phrase for the list of known formats
    digits: int  # significant decimal digits of a value; more digits win in a merge
    appends: bool  # files of this format grow at their end and can be resumed
    role: Role
    reads: str  # what is read of it
    leaves: str  # what is not
    tested: str  # with files of which versions

    def kin(self, path: Path) -> Kin:
        """What says of which run this source is. Raises RunError when it cannot be read."""

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Read the source, from `resume` on where that is given.

        Raises RunError when nothing can be read at all.
        """


class Reader(Format, Protocol):
    """A format whose source is a file."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Is this file mine? `head` is its first 64 KiB, decompressed."""


class TextReader(Reader, Protocol):
    """A text log, which can also come from within another file, as a tracker's console does."""

    def sniff_text(self, head: bytes) -> bool:
        """Is this text mine? `head` is up to its first MiB."""

    def read_text(self, blocks: Iterator[bytes]) -> Reading:
        """Read the text from its start; what raises in `blocks` is not caught."""


class FolderReader(Format, Protocol):
    """A format whose source is a folder with all that is in it."""

    def sniff_folder(self, folder: Path, names: frozenset[str]) -> bool:
        """Is this folder mine? `names` are the entries in it."""


class Shelf(Reader, Protocol):
    """A format whose files hold several runs each, as a database does."""

    def runs(self, path: Path) -> tuple[str, ...]:
        """The runs in it, by the names that stand behind `#`. Raises RunError."""

    def of(self, run: str) -> Format:
        """The reader of this run alone."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the run that a reader takes, a folder, or one run of a file that holds many."""

    path: Path
    relative: str  # to the run's root, POSIX separators; with `#run` where a file holds many
    format: str
    bytes: int
    run: str = ""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file (or a folder of many) left aside, and why."""

    relative: str
    reason: str


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What discover() found."""

    root: Path
    name: str  # "gsm8k-grpo / truncation-12" or the folder's name
    sources: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
