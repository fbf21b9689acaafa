"""TensorBoard event files, a block of records at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from analyzer.sources.opening import CutArchiveError, LogFile, open_log
from analyzer.sources.records import (
    METRIC_ROWS,
    TIMESTAMP,
    Chunk,
    Facts,
    Kin,
    Note,
    Reading,
    Resume,
    Role,
)
from analyzer.sources.tf_events import parse_event
from analyzer.sources.tfrecord import Frames, Offsets, Records, gather, masked_crc
from analyzer.sources.wire import WireError

ROWS_A_BATCH = 1 << 16
_DEEPEST = 6  # folders below that of a writer
_FARTHEST = 64  # bytes that a field may be looked for behind a record's end

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Scalars in the order of the file."""

    records: Offsets  # index of each row's record in its frames
    tags: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int64]
    walls: Floats  # seconds since 1970
    values: Floats


class TensorBoard:
    """The reader of TensorBoard event files.

    A scalar is a float32 as SummaryWriter writes it: seven digits of what was logged are right.
    """

    format = "tensorboard"
    describes = "TensorBoard event file (events.out.tfevents.…)"
    digits = 7
    appends = True
    role: Role = "tracker"
    reads = "scalars, as simple values and as tensors of one element; folders of `add_scalars`"
    leaves = "histograms, images, texts, hyperparameters"
    tested = "tensorboardX 2.6, files of AReaL 2026-08"

    def sniff(self, path: Path, head: bytes) -> bool:
        """Does the file begin with a record that names the format's version?"""
        if len(head) < 12 or b"brain.Event:" not in head[:64]:
            return False
        return masked_crc(head[:8]) == int.from_bytes(head[8:12], "little")

    def kin(self, path: Path) -> Kin:
        """Nothing: the folder says whose it is."""
        return Kin()

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        """Metric rows in file order.

        Raises RunError when the file cannot be read.
        """
        log = open_log(path, resume.offset if resume else 0)
        reading = Reading(iter(()), facts=Facts())
        reading.chunks = _chunks(log, resume, reading, _below_writer(path.absolute().parent))
        return reading


def _below_writer(folder: Path) -> str:
    """The way from the nearest folder above that has event files too, with `_` for `/`; else ""."""
    for depth in range(1, min(_DEEPEST, len(folder.parents))):
        if any(folder.parents[depth - 1].glob("*.tfevents.*")):
            return "_".join(folder.parts[-depth:])
    return ""


@dataclass
class _Tags:
    """What is known of each tag: its number, its last step, whether it holds scalars.

    `add_scalars` writes each of its values to a folder of its own, under the tag alone: torch to
    `<tag>_<value>` below that of the run, tensorboardX to `<tag>/<value>`. Such a tag is read as
    `<tag>/<value>`.
    """

    folder: str = ""  # of the file below that of the run, with `_` for `/`
    names: list[str] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)  # since the attempt began
    others: set[str] = field(default_factory=set)  # tags of histograms, images, texts …
    attempt: int = 0
    left_out: int = 0

    def number(self, tag: bytes) -> int:
        found = self.numbers.get(tag)
        if found is None:
            found = self.numbers[tag] = len(self.names)
            self.names.append(self._named(tag.decode("utf-8", "replace")))
        return found

    def _named(self, tag: str) -> str:
        begin = tag.replace("/", "_") + "_"
        value = self.folder.removeprefix(begin)
        return f"{tag}/{value}" if value and value != self.folder else tag


def _chunks(log: LogFile, resume: Resume | None, reading: Reading, folder: str) -> Iterator[Chunk]:
    """The rows of a file; the reading's other fields are set at the end."""
    tags = _Tags(folder)
    records = Records()
    if resume:
        records.offset, records.count = resume.offset, resume.line
        state = json.loads(resume.state)
        tags.attempt, tags.last, tags.others = state["attempt"], state["last"], set(state["others"])
    cut = None
    try:
        for frames in records.frames(log.blocks()):
            rows = _rows(frames, tags, reading.notes)
            for batch in _batches(rows, _attempts(rows, tags), tags.names):
                yield Chunk("metrics", batch)
    except CutArchiveError as cause:
        cut = cause
    damages = sorted(records.damages, key=lambda damage: damage.record)
    reading.notes += [Note(damage.kind, damage.detail, line=damage.record) for damage in damages]
    if cut is not None:
        reading.notes.append(Note("cut-archive", f"the file breaks off: {cut}"))
    if tags.left_out:
        what = "values are no scalars (histograms, images, texts …) and left out"
        reading.notes.append(Note("not-a-scalar", f"{tags.left_out} {what}"))
    if not log.compressed:
        kept = {"attempt": tags.attempt, "last": tags.last, "others": sorted(tags.others)}
        reading.resume = Resume(records.sound, records.count, json.dumps(kept))


def _rows(frames: Frames, tags: _Tags, notes: list[Note]) -> Rows:
    """All scalars of a stretch: those in SummaryWriter's layout at once, the rest one by one."""
    plain, good = _usual(frames, tags)
    odd = _unusual(frames, np.flatnonzero(~good), tags, notes)
    if not len(odd.records):
        return plain
    order = np.argsort(np.concatenate([plain.records, odd.records]), kind="stable")
    return Rows(
        np.concatenate([plain.records, odd.records])[order],
        np.concatenate([plain.tags, odd.tags])[order],
        np.concatenate([plain.steps, odd.steps])[order],
        np.concatenate([plain.walls, odd.walls])[order],
        np.concatenate([plain.values, odd.values])[order],
    )


def _usual(frames: Frames, tags: _Tags) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Records of wall_time, step and one summary value of tag and simple_value, in this order.

    `09 <8 bytes> [10 <step>] 2a <n> 0a <n> 0a <n> <tag> 15 <4 bytes>`, every length below 128.
    """
    data = np.frombuffer(frames.data + bytes(_FARTHEST), np.uint8)
    starts, ends = frames.starts, frames.ends
    top = len(data) - _FARTHEST
    has_step = data[np.minimum(starts + 9, top)] == 0x10
    steps, place = _varints(data, np.minimum(starts + 9, top), has_step)
    place = np.minimum(place, top)
    tag_lengths = data[place + 5].astype(np.int64)
    value = np.minimum(place + 6 + tag_lengths, top)
    good = (data[starts] == 0x09) & (data[place] == 0x2A) & (data[place + 2] == 0x0A)
    good &= (data[place + 4] == 0x0A) & (data[value] == 0x15) & (value + 5 == ends)
    good &= (data[place + 1] == tag_lengths + 9) & (data[place + 3] == tag_lengths + 7)
    good &= data[place + 1] < 0x80
    chosen = np.flatnonzero(good)
    numbers = _tag_numbers(frames.data, (place + 6)[chosen], value[chosen], tags)
    rows = Rows(
        chosen,
        numbers,
        steps[chosen],
        gather(data, starts[chosen] + 1, 8).view("<f8").ravel(),
        gather(data, value[chosen] + 1, 4).view("<f4").ravel().astype(np.float64),
    )
    return rows, good


def _varints(
    data: npt.NDArray[np.uint8], keys: Offsets, present: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], Offsets]:
    """The numbers behind their keys where present, else 0, and where each record goes on."""
    numbers = np.zeros(len(keys), np.uint64)
    place = keys + present
    going = present.copy()
    for shift in range(0, 64, 7):
        if not going.any():
            break
        byte = data[place].astype(np.uint64)
        numbers |= np.where(going, (byte & np.uint64(0x7F)) << np.uint64(shift), np.uint64(0))
        place = place + going
        going &= byte >= 0x80
    return numbers.view(np.int64), place


def _tag_numbers(data: bytes, starts: Offsets, ends: Offsets, tags: _Tags) -> npt.NDArray[np.int32]:
    known = tags.numbers
    found = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        tag = data[start:end]
        number = known.get(tag)
        found.append(tags.number(tag) if number is None else number)
    return np.array(found, np.int32)


def _unusual(frames: Frames, which: Offsets, tags: _Tags, notes: list[Note]) -> Rows:
    """Scalars of records in any other layout."""
    rows: list[tuple[int, int, int, float, float]] = []
    for index in which.tolist():
        data = frames.data[frames.starts[index] : frames.ends[index]]
        try:
            event = parse_event(data)
        except WireError as cause:
            number = int(frames.numbers[index])
            notes.append(Note("bad-record", f"record {number} is no event: {cause}", line=number))
            continue
        for value in event.values:
            name = value.tag.decode("utf-8", "replace")
            if value.number is None or (value.is_tensor and name in tags.others):
                tags.others.add(name)
                tags.left_out += 1
                continue
            number = tags.number(value.tag)
            rows.append((index, number, event.step, event.wall_time, value.number))
    columns: list[tuple[float, ...]] = list(zip(*rows, strict=True)) if rows else [()] * 5
    return Rows(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int32),
        np.array(columns[2], np.int64),
        np.array(columns[3], np.float64),
        np.array(columns[4], np.float64),
    )


def _attempts(rows: Rows, tags: _Tags) -> npt.NDArray[np.int32]:
    """The attempt of each row: one more whenever a tag's step goes back."""
    order = np.argsort(rows.tags, kind="stable")
    numbers, steps = rows.tags[order], rows.steps[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = numbers[1:] != numbers[:-1]
    before = np.empty(len(order), np.int64)
    before[1:] = steps[:-1]
    smallest = np.iinfo(np.int64).min
    before[first] = [tags.last.get(tags.names[number], smallest) for number in numbers[first]]
    if (steps < before).any():
        return _attempts_one_by_one(rows, tags)
    ends = np.append(first[1:], True)[: len(order)]
    for number, step in zip(numbers[ends].tolist(), steps[ends].tolist(), strict=True):
        tags.last[tags.names[number]] = step
    return np.full(len(order), tags.attempt, np.int32)


def _attempts_one_by_one(rows: Rows, tags: _Tags) -> npt.NDArray[np.int32]:
    attempts = np.empty(len(rows.tags), np.int32)
    for index, (number, step) in enumerate(
        zip(rows.tags.tolist(), rows.steps.tolist(), strict=True)
    ):
        name = tags.names[number]
        if step < tags.last.get(name, step):
            tags.attempt += 1
            tags.last = {}
        tags.last[name] = step
        attempts[index] = tags.attempt
    return attempts


def _batches(
    rows: Rows, attempts: npt.NDArray[np.int32], names: list[str]
) -> Iterator[pa.RecordBatch]:
    known = np.isfinite(rows.walls) & (rows.walls > 0)
    micros = np.round(np.where(known, rows.walls, 0) * 1e6).astype(np.int64)
    columns = [
        pa.array(attempts, pa.int32()),
        pa.array(rows.steps, pa.int64()),
        pa.nulls(len(attempts), pa.int64()),
        pa.DictionaryArray.from_arrays(
            pa.array(rows.tags, pa.int32()), pa.array(names, pa.string())
        ),
        pa.array(rows.values, pa.float64()),
        pa.array(micros, mask=~known).view(TIMESTAMP),
    ]
    table = pa.RecordBatch.from_arrays(columns, schema=METRIC_ROWS)
    for start in range(0, table.num_rows, ROWS_A_BATCH):
        yield table.slice(start, ROWS_A_BATCH)
