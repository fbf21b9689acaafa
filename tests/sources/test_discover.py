"""What belongs to a run, what is left aside, and what is no run at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from areal_log import ArealLog, Style, five
from event_file import VERSION, scalar

from analyzer.errors import RunError
from analyzer.sources import readers, same_run
from analyzer.sources.discover import discover
from analyzer.sources.readers import READERS, reader_for, reader_of
from analyzer.sources.records import Kin, Reading, Resume, Role, RunFiles
from analyzer.sources.text_readers import text_reader_of

PLAIN = Style(header=True, colours=False)
MERGED = Style(header=True, colours=False, worker="[main]    ")
CONFIG = "experiment_name: gsm8k\ntrial_name: 'first-1' # ours\nactor: {}\nrollout: {}\n"


def log(style: Style = PLAIN, steps: range = range(3)) -> ArealLog:
    text = ArealLog(style).record("started", "A")
    for step in steps:
        text.step(step, five(a=step))
    return text


def names(files: RunFiles) -> list[tuple[str, str]]:
    return [(source.relative, source.format) for source in files.sources]


def skipped(files: RunFiles) -> dict[str, str]:
    return {file.relative: file.reason for file in files.skipped}


def write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def trial(root: Path) -> Path:
    """AReaL's layout: a trial's logs, TensorBoard elsewhere below the same root."""
    home = root / "logs" / "me" / "gsm8k" / "first-1"
    write(home / "main.log", log().text())
    write(home / "merged.log", log(MERGED).text())
    write(home / "config.yaml", CONFIG)
    write(root / "tensorboard" / "events.out.tfevents.1.host", VERSION + scalar(1, 0, "a", 1))
    return home


def test_a_trial_as_areal_lays_it_out(tmp_path: Path) -> None:
    home = trial(tmp_path)
    files = discover(tmp_path)
    assert files.name == "gsm8k/first-1"
    assert names(files) == [
        ("logs/me/gsm8k/first-1/config.yaml", "areal-config"),
        ("logs/me/gsm8k/first-1/main.log", "areal-text"),
        ("tensorboard/events.out.tfevents.1.host", "tensorboard"),
    ]
    assert skipped(files) == {
        "logs/me/gsm8k/first-1/merged.log": "same content as logs/me/gsm8k/first-1/main.log"
    }
    assert files.sources[1].bytes == (home / "main.log").stat().st_size
    assert discover(tmp_path) == files


def test_the_name_comes_from_the_layout_where_no_configuration_says_it(tmp_path: Path) -> None:
    home = tmp_path / "logs" / "me" / "exp" / "two"
    write(home / "main.log", log().text())
    assert discover(tmp_path).name == "exp/two"
    assert discover(home).name == "exp/two"
    assert discover(home / "main.log").name == "exp/two"


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ('experiment_name: "a-b"\r\ntrial_name: c\r\nactor: {}\nrollout: {}\n', "a-b/c"),
        ("experiment_name: a-${x}\ntrial_name: c\nactor: {}\nrollout: {}\n", "run"),
        ("experiment_name: null\ntrial_name: t\nactor: {}\nrollout: {}\n", "run"),
    ],
)
def test_the_name_that_a_configuration_gives(tmp_path: Path, config: str, name: str) -> None:
    write(tmp_path / "run" / "main.log", log().text())
    write(tmp_path / "run" / "config.yaml", config)
    assert discover(tmp_path / "run").name == name


def test_the_folders_name_where_nothing_else_says_it(tmp_path: Path) -> None:
    write(tmp_path / "mine" / "console.txt", log().text())
    assert discover(tmp_path / "mine").name == "mine"
    assert discover(tmp_path / "mine" / "console.txt").name == "console"


def test_one_file_takes_the_configuration_beside_it_and_nothing_else(tmp_path: Path) -> None:
    home = trial(tmp_path)
    files = discover(home / "merged.log")
    assert names(files) == [("merged.log", "areal-text"), ("config.yaml", "areal-config")]
    assert files.skipped == ()
    assert files.root == home
    assert names(discover(home / "config.yaml")) == [("config.yaml", "areal-config")]


def test_merged_log_is_read_when_other_workers_speak_in_it(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    merged = log(MERGED).plain("[actor]   (AReaL) 20261129-14:58:07.185 A ERROR: gone")
    write(tmp_path / "merged.log", merged.text())
    write(tmp_path / "actor.log", "(AReaL) 20261129-14:58:07.185 A ERROR: gone\n")
    write(tmp_path / "other.log", "(AReaL) 20261129-14:58:07.185 A ERROR: else\n")
    files = discover(tmp_path)
    assert [name for name, _ in names(files)] == ["merged.log", "other.log"]
    assert skipped(files) == {
        "main.log": "its lines are in merged.log",
        "actor.log": "its lines are in merged.log",
    }


def test_merged_log_with_fewer_steps_does_not_stand_for_main_log(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    write(tmp_path / "merged.log", log(MERGED, range(2)).text())
    assert skipped(discover(tmp_path)) == {"merged.log": "its lines are in main.log"}
    said = log(MERGED, range(2)).plain("[actor]   (AReaL) 20261129-14:58:07.185 A ERROR: gone")
    write(tmp_path / "merged.log", said.text())
    assert [name for name, _ in names(discover(tmp_path))] == ["main.log", "merged.log"]


def test_a_start_that_reached_no_step_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log(steps=range(0)).text())
    write(tmp_path / "merged.log", log(MERGED, range(0)).text())
    assert [name for name, _ in names(discover(tmp_path))] == ["main.log"]


def test_a_longer_copy_stands_for_a_shorter_one_and_parts_are_both_read(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    write(tmp_path / "console.txt", log(Style(outer="2026-11-29T06:58:07Z "), range(5)).text())
    assert skipped(discover(tmp_path)) == {"main.log": "its lines are in console.txt"}
    write(tmp_path / "console.txt", log(PLAIN, range(3, 5)).text())
    assert [name for name, _ in names(discover(tmp_path))] == ["console.txt", "main.log"]


def test_files_of_other_trackers_are_named_folder_by_folder(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    for run in ("offline-run-1-a", "run-2-b"):
        write(tmp_path / "wandb" / run / f"{run}.wandb", b":W&B....")
        write(tmp_path / "wandb" / run / "files" / "config.yaml", CONFIG)
        write(tmp_path / "wandb" / run / "files" / "output.log", log().text())
    write(tmp_path / "run-3" / "run.swanlab", b"x")
    write(tmp_path / "run-3" / "files" / "config.yaml", CONFIG)
    write(tmp_path / "mlruns" / "0" / "meta.yaml", "experiment_id: 0")
    write(tmp_path / "tracks" / "9" / "meta.yaml", "x: 1")
    write(tmp_path / "tracks" / "9" / "metrics" / "a", "1 2 3")
    write(tmp_path / "tracks" / "9" / "params" / "a", "1")
    write(tmp_path / "checkpoints" / "step_1" / "model.bin", b"x")
    write(tmp_path / "policy" / "model.safetensors", b"x")
    write(tmp_path / ".git" / "config", "x")
    write(tmp_path / "loose.wandb", b":W&B....")
    (tmp_path / "trackio").mkdir()
    for path in (tmp_path / "trackio" / "p.db", tmp_path / "else.db"):
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE t (x)")
    later = "not read by this version"
    headless = "Weights & Biases run file without its header"
    files = discover(tmp_path)
    assert ("tracks/9", "mlflow") in names(files)
    assert skipped(files) == {
        ".git/": "not part of a run",
        "checkpoints/": "model weights or checkpoints",
        "else.db": f"SQLite database of another program: {later}",
        "loose.wandb": headless,
        "mlruns/0/meta.yaml": "the description of an MLflow experiment",
        "policy/": "model weights or checkpoints",
        "run-3/files/": "what SwanLab keeps beside its run file",
        "run-3/run.swanlab": "SwanLab run file without its header",
        "trackio/p.db": f"SQLite database of another program: {later}",
        "wandb/offline-run-1-a/files/": "what Weights & Biases keeps beside its run file",
        "wandb/offline-run-1-a/files/output.log": "same content as main.log",
        "wandb/offline-run-1-a/offline-run-1-a.wandb": headless,
        "wandb/run-2-b/files/": "what Weights & Biases keeps beside its run file",
        "wandb/run-2-b/files/output.log": "same content as main.log",
        "wandb/run-2-b/run-2-b.wandb": headless,
    }


def test_unknown_empty_and_linked_files_are_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write(run / "main.log", log().text())
    write(run / "notes.md", "hello")
    write(run / "empty.log", "")
    for index in range(9):
        write(run / "extra" / f"{index}.bin", bytes([index]) * 9)
    write(tmp_path / "elsewhere.log", log(PLAIN, range(7, 9)).text())
    (run / "latest").symlink_to(run / "extra")
    (run / "same.log").symlink_to(run / "main.log")
    (run / "outside.log").symlink_to(tmp_path / "elsewhere.log")
    (run / "gone.log").symlink_to(tmp_path / "nowhere.log")
    (run / "around").symlink_to(tmp_path)
    files = discover(run)
    assert [name for name, _ in names(files)] == ["main.log", "outside.log"]
    assert skipped(files) == {
        "around": "a link out of the run, not followed",
        "empty.log": "empty file",
        "extra/": "9 files: no reader knows this format",
        "gone.log": "a link out of the run, not followed",
        "notes.md": "no reader knows this format",
    }


def test_the_saved_configuration_is_taken_before_others(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    write(tmp_path / "a.yaml", CONFIG)
    assert [name for name, _ in names(discover(tmp_path))] == ["a.yaml", "main.log"]
    write(tmp_path / "b.yaml", CONFIG)
    unclear = "one of several configurations, none of them named config.yaml"
    assert skipped(discover(tmp_path)) == {"a.yaml": unclear, "b.yaml": unclear}
    write(tmp_path / "config.yaml", CONFIG)
    other = "another configuration than config.yaml"
    assert skipped(discover(tmp_path)) == {"a.yaml": other, "b.yaml": other}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("main.log", log().text()),
        ("config.yaml", CONFIG),
        ("events.out.tfevents.1", VERSION + scalar(1, 0, "a", 1)),
    ],
)
def test_several_runs_are_named_and_refused(tmp_path: Path, name: str, content: bytes) -> None:
    write(tmp_path / "one" / name, content)
    text = content.replace(b"14:58", b"15:03") if isinstance(content, bytes) else content
    write(tmp_path / "two" / "deep" / name, text)
    with pytest.raises(RunError) as error:
        discover(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: holds 2 runs: one, two/deep "
        "(give one of them, or use `analyzer batch` for all)"
    )


def test_a_copy_or_a_helpers_log_in_another_folder_is_no_second_run(tmp_path: Path) -> None:
    write(tmp_path / "a" / "main.log", log().text())
    write(tmp_path / "b" / "console.txt", log().text())
    write(tmp_path / "server" / "out.txt", log(steps=range(0)).text())
    files = discover(tmp_path)
    assert [name for name, _ in names(files)] == ["a/main.log", "server/out.txt"]
    assert skipped(files) == {"b/console.txt": "same content as a/main.log"}


def test_failed_starts_side_by_side_are_several_runs(tmp_path: Path) -> None:
    start = ArealLog(PLAIN).record("LocalLauncher: experiment_name=e, trial_name=t", "S")
    write(tmp_path / "a" / "out.txt", log().text())
    write(tmp_path / "b" / "out.txt", start.text())
    with pytest.raises(RunError, match="holds 2 runs: a, b"):
        discover(tmp_path)


KNOWN = "known formats: wandb, "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file (give a log that has been written to)"),
        (b"x", "no reader knows this format (" + KNOWN),
        (bytes(range(256)) * 20, "no reader knows this format (" + KNOWN),
        (b"just a text\n" * 50, "no reader knows this format (" + KNOWN),
        (b"\x1f\x8bbroken", "no reader knows this format (" + KNOWN),
        (b":W&B....", "Weights & Biases run file without its header (" + KNOWN),
    ],
    ids=["empty", "one byte", "binary", "text", "broken gz", "wandb"],
)
def test_a_file_that_is_no_log(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(content)
    with pytest.raises(RunError) as error:
        discover(path)
    assert str(error.value).startswith(f"{path}: {message}")
    assert "\n" not in str(error.value)


def test_paths_that_hold_no_run(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    texts = tmp_path / "texts"
    write(texts / "a.md", "hello")
    tracked = tmp_path / "tracked"
    write(tracked / "r" / ".aim" / "x", "x")
    aim = "Aim repository (RocksDB, which only Aim reads; export the run as CSV)"
    for path, message in [
        (tmp_path / "nowhere", "no such file or directory (check the path)"),
        (empty, "empty directory (give the directory of a trial)"),
        (texts, "no log of a known format in it (" + KNOWN),
        (tracked, f"nothing that this version reads (r/.aim/: {aim}) (" + KNOWN),
        (tracked / "r", f"nothing that this version reads (.aim/: {aim}) (" + KNOWN),
    ]:
        with pytest.raises(RunError) as error:
            discover(path)
        assert str(error.value).startswith(f"{path}: {message}")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial(tmp_path)
    secret = tmp_path / "logs" / "me" / "gsm8k" / "first-1" / "merged.log"
    real = Path.open

    def refuse(self: Path, *args: object, **kwargs: object) -> object:
        if self == secret:
            raise PermissionError(13, "Permission denied")
        return real(self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    reasons = skipped(discover(tmp_path))
    assert reasons["logs/me/gsm8k/first-1/merged.log"] == "cannot be read: permission denied"
    with pytest.raises(RunError, match=r"merged\.log: cannot be read: permission denied"):
        discover(secret)


def test_formats_are_found_by_content_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content, name in [
        (log().text(), "areal-text"),
        (CONFIG.encode(), "areal-config"),
        (VERSION, "tensorboard"),
    ]:
        path.write_bytes(content)
        reader = reader_of(path)
        assert reader is reader_for(name)
        assert reader in READERS
    path.write_bytes(b"")
    assert reader_of(path) is None


def recorded(folder: Path) -> None:
    write(folder / "manifest.json", '{"kind": "recorded-batch", "schema_version": 1}')
    write(folder / "batch.safetensors", b"\0" * 8)


def test_recorded_batches_are_left_to_the_replay(tmp_path: Path) -> None:
    write(tmp_path / "main.log", log().text())
    recorded(tmp_path / "recorded" / "step_00000003")
    write(tmp_path / "web" / "manifest.json", '{"kind": "application"}')
    assert skipped(discover(tmp_path)) == {
        "recorded/step_00000003/": "recorded batches, read by the replay",
        "web/manifest.json": "no reader knows this format",
    }
    for step in range(4, 11):
        recorded(tmp_path / "recorded" / f"step_{step:08}")
    assert skipped(discover(tmp_path))["recorded/"] == (
        "8 folders: recorded batches, read by the replay"
    )


def test_a_console_text_of_unknown_origin_finds_its_reader(tmp_path: Path) -> None:
    text = log(PLAIN, range(3)).text()
    reader = text_reader_of(text)
    assert reader is reader_for("areal-text")
    halves = iter([text[:1000], text[1000:]])
    metrics = [chunk for chunk in reader.read_text(halves) if chunk.table == "metrics"]
    assert [row["step"] for chunk in metrics for row in chunk.rows.to_pylist()] == [0, 1, 2]
    assert text_reader_of(b"just a text\n" * 50) is None


class Side:
    """A tracker's format, as small as it can be: `side <name>` on the first line."""

    format = "side"
    describes = "side"
    digits = 17
    appends = False
    role: Role = "tracker"
    reads = leaves = tested = ""

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"side ")

    def kin(self, path: Path) -> Kin:
        name = path.read_text().split()[1]
        return Kin(frozenset([name]), label=name)

    def read(self, path: Path, resume: Resume | None = None) -> Reading:
        return Reading(iter(()))


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Side()
    monkeypatch.setattr(readers, "READERS", (reader, *readers.READERS))
    for module in (readers, same_run):
        monkeypatch.setattr(module, "FORMATS", (reader, *readers.FORMATS))


@pytest.mark.usefixtures("side")
def test_runs_of_a_tracker_are_told_by_their_names(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.side", "side p/one")
    write(tmp_path / "b" / "x.side", "side p/one")
    files = discover(tmp_path)
    assert [name for name, _ in names(files)] == ["a/x.side", "b/x.side"]
    assert files.name == "p/one"
    write(tmp_path / "b" / "y.side", "side p/two")
    with pytest.raises(RunError, match=r"holds 2 runs: a/x.side, b/y.side \("):
        discover(tmp_path / "")
    write(tmp_path / "main.log", log().text())
    write(tmp_path / "config.yaml", "experiment_name: p\ntrial_name: two\nactor: {}\nrollout: {}\n")
    files = discover(tmp_path)
    assert [name for name, _ in names(files)] == ["b/y.side", "config.yaml", "main.log"]
    other = "another run than p/two"
    assert skipped(files) == {"a/x.side": other, "b/x.side": other}


@pytest.mark.usefixtures("side")
def test_consoles_that_a_tracker_kept_are_of_its_run(tmp_path: Path) -> None:
    for part, steps in (("a", range(3)), ("b", range(3, 5))):
        write(tmp_path / part / "x.side", "side p/one")
        write(tmp_path / part / "files" / "output.log", log(PLAIN, steps).text())
    files = discover(tmp_path)
    assert [kind for _, kind in names(files)].count("areal-text") == 2
    write(tmp_path / "c" / "output.log", log(PLAIN, range(8, 9)).text())
    write(tmp_path / "d" / "output.log", log(PLAIN, range(9, 12)).text())
    with pytest.raises(RunError, match="holds 2 runs: c, d"):
        discover(tmp_path)
