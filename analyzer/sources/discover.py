"""What a path holds: the files of one run, and what is left aside and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.errors import Location, RunError, SeveralRuns
from analyzer.sources.file_search import UNKNOWN, Search, source_file, sources_in
from analyzer.sources.foreign import foreign_file
from analyzer.sources.opening import read_head
from analyzer.sources.readers import known_formats, reader_of
from analyzer.sources.records import RunFiles, SkippedFile
from analyzer.sources.same_content import copies
from analyzer.sources.same_run import Candidate, clusters, runs_apart

_CONFIG = "areal-config"
_CONFIG_NAME = "config.yaml"
_NAME_KEYS = re.compile(
    rb"^(experiment_name|trial_name):[ \t]*([\"']?)([^\s\"'#$]+)\2[ \t\r]*(?:#.*)?$", re.MULTILINE
)
_RUNS_SHOWN = 10


def discover(run: Path) -> RunFiles:
    """The files of a run, given its directory or one of its logs, or FILE#RUN of a database.

    Raises RunError, in one line with a remedy, when there is nothing to read, when a single file
    is of no known format or cannot be read; SeveralRuns when a directory or a file holds several.
    """
    if run.exists():
        return _directory(run) if run.is_dir() else _single_file(run)
    path, found, name = str(run).rpartition("#")
    if found and Path(path).is_file():
        return _single_file(Path(path), name)
    raise RunError("no such file or directory", at=Location(str(run)), hint="check the path")


def _single_file(path: Path, run: str = "") -> RunFiles:
    """One log, and the configuration that AReaL saved beside it."""
    at = Location(str(path))
    if path.stat().st_size == 0:
        raise RunError("empty file", at=at, hint="give a log that has been written to")
    reader = reader_of(path)
    if reader is None:
        reason = foreign_file(path, read_head(path)) or UNKNOWN
        raise RunError(reason, at=at, hint=f"known formats: {known_formats()}")
    sources = sources_in(path, path.parent, reader)
    if run:
        runs = ", ".join(source.run for source in sources)
        sources = [source for source in sources if source.run == run]
        if not sources:
            raise RunError(f"no run named {run} in it: {runs}", at=at, hint="give one of these")
    candidates = [Candidate(source) for source in sources]
    _refuse_several(path, runs_apart(path.parent, candidates))
    config = path.parent / _CONFIG_NAME
    if config != path and config.is_file() and _is_config(config):
        sources.append(source_file(config, path.parent, _CONFIG))
    name = _name(candidates, path.parent) or path.name.split(".")[0] or path.name
    return RunFiles(path.parent, name, tuple(sources), ())


def _directory(root: Path) -> RunFiles:
    found = Search(root)
    found.look()
    candidates = [Candidate(source) for source in found.sources]
    candidates, others = _of_this_run(candidates, root)
    _refuse_several(root, runs_apart(root, candidates))
    candidates, left = _without_copies(candidates)
    candidates, more = _one_configuration(candidates)
    skipped = [*found.skipped, *others, *left, *more]
    if not candidates:
        raise _nothing(root, found)
    sources = (candidate.source for candidate in candidates)
    return RunFiles(
        root,
        _name(candidates, root) or root.resolve().name,
        tuple(sorted(sources, key=lambda source: source.relative)),
        tuple(sorted(skipped, key=lambda file: file.relative)),
    )


def _is_config(path: Path) -> bool:
    reader = reader_of(path)
    return reader is not None and reader.role == "config"


def _refuse_several(place: Path, runs: list[str]) -> None:
    """Raise SeveralRuns when several runs lie side by side."""
    if len(runs) < 2:
        return
    shown = ", ".join(runs[:_RUNS_SHOWN]) + (" …" if len(runs) > _RUNS_SHOWN else "")
    raise SeveralRuns(
        f"holds {len(runs)} runs: {shown}",
        at=Location(str(place)),
        hint="give one of them, or use `analyzer batch` for all",
    )


def _of_this_run(
    candidates: list[Candidate], root: Path
) -> tuple[list[Candidate], list[SkippedFile]]:
    """Without the tracker's other runs, where the configuration says which one this is.

    A tracker's folder or database collects the runs of a project. AReaL calls its runs by the
    trial, by experiment and trial, or by both and `train`.
    """
    name = _configured_name(candidates) or _name_by_layout(candidates, root)
    if name is None:
        return candidates, []
    experiment, _, trial = name.partition("/")
    names = {trial, f"{experiment}_{trial}"}
    called = frozenset({*names, *(f"{known}_train" for known in names)})
    left: dict[str, Candidate] = {}
    for kind in {c.source.format for c in candidates if c.reader.role == "tracker"}:
        runs = clusters([c for c in candidates if c.source.format == kind])
        ours = [run for run in runs if any(c.is_called(called) for c in run)]
        if ours and len(runs) > 1:
            left |= {c.source.relative: c for run in runs if run not in ours for c in run}
    kept = [c for c in candidates if c.source.relative not in left]
    return kept, [SkippedFile(relative, f"another run than {name}") for relative in sorted(left)]


def _without_copies(
    candidates: list[Candidate],
) -> tuple[list[Candidate], list[SkippedFile]]:
    left: dict[str, str] = {}
    for kind in sorted({c.source.format for c in candidates}):
        group = [c for c in candidates if c.source.format == kind]
        if group[0].reader.role in ("log", "tracker"):
            left |= copies(group)
    kept = [c for c in candidates if c.source.relative not in left]
    return kept, [SkippedFile(relative, reason) for relative, reason in left.items()]


def _one_configuration(
    candidates: list[Candidate],
) -> tuple[list[Candidate], list[SkippedFile]]:
    """The configuration that ran: config.yaml, else the only one there is."""
    configs = [c for c in candidates if c.reader.role == "config"]
    saved = [c for c in configs if c.source.path.name == _CONFIG_NAME]
    chosen = saved or (configs if len(configs) == 1 else [])
    reason = (
        f"another configuration than {saved[0].source.relative}"
        if saved
        else "one of several configurations, none of them named config.yaml"
    )
    left = [c for c in configs if c not in chosen]
    kept = [c for c in candidates if c not in left]
    return kept, [SkippedFile(c.source.relative, reason) for c in left]


def _name(candidates: list[Candidate], root: Path) -> str | None:
    """experiment/trial by the configuration, else by AReaL's directory layout, else a tracker's."""
    named = _configured_name(candidates) or _name_by_layout(candidates, root)
    if named is not None:
        return named
    labels = (c.kin.label for c in candidates if c.reader.role == "tracker")
    return next((label for label in labels if label), None)


def _configured_name(candidates: list[Candidate]) -> str | None:
    for candidate in candidates:
        if candidate.reader.role == "config" and (name := _name_in(candidate.source.path)):
            return name
    return None


def _name_in(config: Path) -> str | None:
    found = _NAME_KEYS.finditer(read_head(config))
    names = {match[1]: match[3].decode("utf-8", "replace") for match in found}
    experiment, trial = names.get(b"experiment_name"), names.get(b"trial_name")
    if not experiment or not trial or "null" in (experiment, trial):
        return None
    return f"{experiment}/{trial}"


def _name_by_layout(candidates: list[Candidate], root: Path) -> str | None:
    for home in _log_folders(candidates, root):
        parts = home.parts
        if len(parts) > 4 and parts[-4] == "logs":  # logs/<user>/<experiment>/<trial>
            return f"{parts[-2]}/{parts[-1]}"
    return None


def _log_folders(candidates: list[Candidate], root: Path) -> Iterator[Path]:
    for candidate in candidates:
        if candidate.reader.role == "log":
            yield (root / candidate.source.relative).resolve().parent


def _nothing(root: Path, found: Search) -> RunError:
    """The error for a directory with no log to read."""
    at = Location(str(root))
    hint = f"known formats: {known_formats()}"
    told = [file for file in found.skipped if "not read by this version" in file.reason]
    if told:
        kinds = ", ".join(
            f"{file.relative.removeprefix('./') or 'it'}: {file.reason.partition(':')[0]}"
            for file in told[:3]
        )
        return RunError(f"nothing that this version reads ({kinds})", at=at, hint=hint)
    if not found.files and not found.skipped:
        return RunError("empty directory", at=at, hint="give the directory of a trial")
    return RunError("no log of a known format in it", at=at, hint=hint)
