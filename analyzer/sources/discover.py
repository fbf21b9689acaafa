"""What a path holds: the files of one run, and what is left aside and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.errors import Location, RunError
from analyzer.sources.file_search import UNKNOWN, Search, source_file
from analyzer.sources.foreign import foreign_file
from analyzer.sources.opening import read_head
from analyzer.sources.readers import known_formats, reader_of
from analyzer.sources.records import RunFiles, SkippedFile, SourceFile
from analyzer.sources.same_content import TextLog, without_copies

_TEXT, _CONFIG, _TENSORBOARD = "areal-text", "areal-config", "tensorboard"
_CONFIG_NAME = "config.yaml"
_NAME_KEYS = re.compile(
    rb"^(experiment_name|trial_name):[ \t]*([\"']?)([^\s\"'#$]+)\2[ \t\r]*(?:#.*)?$", re.MULTILINE
)
_RUNS_SHOWN = 10
_DEEP_HEAD = 1 << 20


def discover(run: Path) -> RunFiles:
    """The files of a run, given its directory or one of its logs.

    Raises RunError, in one line with a remedy, when there is nothing to read, when a single file
    is of no known format or cannot be read, and when a directory holds several runs.
    """
    if not run.exists():
        raise RunError("no such file or directory", at=Location(str(run)), hint="check the path")
    return _directory(run) if run.is_dir() else _single_file(run)


def _single_file(path: Path) -> RunFiles:
    """One log, and the configuration that AReaL saved beside it."""
    at = Location(str(path))
    if path.stat().st_size == 0:
        raise RunError("empty file", at=at, hint="give a log that has been written to")
    reader = reader_of(path)
    if reader is None:
        reason = foreign_file(path, read_head(path)) or UNKNOWN
        raise RunError(reason, at=at, hint=f"known formats: {known_formats()}")
    sources = [source_file(path, path.parent, reader.format)]
    config = path.parent / _CONFIG_NAME
    if config != path and config.is_file() and _format(config) == _CONFIG:
        sources.append(source_file(config, path.parent, _CONFIG))
    name = _name(sources, path.parent) or path.name.split(".")[0] or path.name
    return RunFiles(path.parent, name, tuple(sources), ())


def _directory(root: Path) -> RunFiles:
    found = Search(root)
    found.look()
    _refuse_several(root, found.sources)
    sources, left = _without_copies(found.sources)
    sources, more = _one_configuration(sources)
    skipped = [*found.skipped, *left, *more]
    if not sources:
        raise _nothing(root, found)
    return RunFiles(
        root,
        _name(sources, root) or root.resolve().name,
        tuple(sorted(sources, key=lambda source: source.relative)),
        tuple(sorted(skipped, key=lambda file: file.relative)),
    )


def _format(path: Path) -> str | None:
    reader = reader_of(path)
    return reader.format if reader else None


def _refuse_several(root: Path, sources: list[SourceFile]) -> None:
    """Raise RunError when logs of several runs lie side by side."""
    runs = next(
        (found for kind in (_TEXT, _CONFIG, _TENSORBOARD) if (found := _homes(sources, kind))), []
    )
    if len(runs) < 2:
        return
    names = [home.relative_to(root).as_posix() for home in runs]
    shown = ", ".join(names[:_RUNS_SHOWN]) + (" …" if len(names) > _RUNS_SHOWN else "")
    raise RunError(
        f"holds {len(names)} runs: {shown}",
        at=Location(str(root)),
        hint="give one of them, or use `analyzer batch` for all",
    )


def _homes(sources: list[SourceFile], kind: str) -> list[Path]:
    """Directories with files of this kind that do not lie in one another; copies count once."""
    logs = [source for source in sources if source.format == kind]
    homes: list[Path] = []
    for home in sorted({source.path.parent for source in logs}):
        if not any(home.is_relative_to(other) for other in homes):
            homes.append(home)
    if kind != _TEXT or len(homes) < 2:
        return homes
    return _separate(homes, logs)


def _separate(homes: list[Path], logs: list[SourceFile]) -> list[Path]:
    """Homes of runs of their own: not those of copies, nor of logs that only help another."""
    seen: list[frozenset[bytes]] = []
    own: list[Path] = []
    for home in homes:
        below = [log for log in logs if log.path.is_relative_to(home)]
        steps = frozenset().union(*(TextLog(log.path, log.relative).steps for log in below))
        if steps and any(steps <= other or other <= steps for other in seen):
            continue
        if steps or any(_begins_run(log.path) for log in below):
            own.append(home)
            seen += [steps] if steps else []
    return own


def _begins_run(log: Path) -> bool:
    """Is a log without steps that of a start which failed, and not of a worker beside others?"""
    if log.name.startswith(("main.log", "merged.log")) or (log.parent / _CONFIG_NAME).exists():
        return True
    return b"Launcher: experiment_name=" in read_head(log, _DEEP_HEAD)


def _without_copies(
    sources: list[SourceFile],
) -> tuple[list[SourceFile], list[SkippedFile]]:
    texts = [TextLog(s.path, s.relative) for s in sources if s.format == _TEXT]
    _, left = without_copies(texts)
    kept = [source for source in sources if source.relative not in left]
    return kept, [SkippedFile(relative, reason) for relative, reason in left.items()]


def _one_configuration(
    sources: list[SourceFile],
) -> tuple[list[SourceFile], list[SkippedFile]]:
    """The configuration that ran: config.yaml, else the only one there is."""
    configs = [source for source in sources if source.format == _CONFIG]
    saved = [source for source in configs if source.path.name == _CONFIG_NAME]
    chosen = saved or (configs if len(configs) == 1 else [])
    reason = (
        f"another configuration than {saved[0].relative}"
        if saved
        else "one of several configurations, none of them named config.yaml"
    )
    left = [source for source in configs if source not in chosen]
    kept = [source for source in sources if source not in left]
    return kept, [SkippedFile(source.relative, reason) for source in left]


def _name(sources: list[SourceFile], root: Path) -> str | None:
    """experiment/trial by the configuration, else by AReaL's directory layout."""
    for source in sources:
        if source.format == _CONFIG and (name := _name_in(read_head(source.path))):
            return name
    for home in _trial_folders(sources, root):
        parts = home.parts
        if len(parts) > 4 and parts[-4] == "logs":  # logs/<user>/<experiment>/<trial>
            return f"{parts[-2]}/{parts[-1]}"
    return None


def _name_in(config: bytes) -> str | None:
    names = {match[1]: match[3].decode("utf-8", "replace") for match in _NAME_KEYS.finditer(config)}
    experiment, trial = names.get(b"experiment_name"), names.get(b"trial_name")
    if not experiment or not trial or "null" in (experiment, trial):
        return None
    return f"{experiment}/{trial}"


def _trial_folders(sources: list[SourceFile], root: Path) -> Iterator[Path]:
    for source in sources:
        if source.format == _TEXT:
            yield (root / source.relative).resolve().parent


def _nothing(root: Path, found: Search) -> RunError:
    """The error for a directory with no log to read."""
    at = Location(str(root))
    hint = f"known formats: {known_formats()}"
    told = [file for file in found.skipped if "not read by this version" in file.reason]
    if told:
        kinds = ", ".join(
            f"{file.relative.removeprefix('./') or 'it'} is a {file.reason.partition(':')[0]}"
            for file in told[:3]
        )
        return RunError(f"nothing that this version reads: {kinds}", at=at, hint=hint)
    if not found.files and not found.skipped:
        return RunError("empty directory", at=at, hint="give the directory of a trial")
    return RunError("no log of a known format in it", at=at, hint=hint)
