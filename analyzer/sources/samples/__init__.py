"""Rollout and completion dumps: one row a sampled response, the text left where it is."""

from analyzer.sources.samples.areal_dumps import ArealDumps
from analyzer.sources.samples.prime_dumps import PrimeDumps
from analyzer.sources.samples.reader import DumpChanged, DumpReader
from analyzer.sources.samples.slime_dumps import SlimeDumps
from analyzer.sources.samples.trl_completions import TrlCompletions
from analyzer.sources.samples.verl_dumps import VerlDumps

DUMP_READERS = tuple(
    DumpReader(layout)
    for layout in (ArealDumps(), VerlDumps(), PrimeDumps(), TrlCompletions(), SlimeDumps())
)


def dump_reader(name: str) -> DumpReader | None:
    """The reader of a dump format; None where the name is that of another format."""
    return next((reader for reader in DUMP_READERS if reader.format == name), None)


__all__ = ["DUMP_READERS", "DumpChanged", "DumpReader", "dump_reader"]
