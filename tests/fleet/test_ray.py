"""`batch --engine ray` on two raylets of this machine, started and stopped here."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from runs_of import rows_on_disk, write_run
from s3_server import MISSING, serving, weed

from analyzer import __version__
from analyzer.cli import run_command
from analyzer.errors import ExitCode, RunError
from analyzer.fleet import ray_engine
from analyzer.fleet.depot import depot_at
from analyzer.fleet.find import Found
from analyzer.fleet.judge import Judging
from analyzer.fleet.ray_engine import run_on_ray
from analyzer.fleet.rows import load, load_all
from analyzer.pipeline import Settings

pytest.importorskip("ray", reason="Ray is not installed: `make test-fleet` does that")

RUNS = 12
NODE: dict[str, Any] = {
    "num_cpus": 1,
    "object_store_memory": 80 << 20,  # the least that Ray takes is 75 MiB
    "include_dashboard": False,
}


def patiently(start: Callable[[], Any]) -> Any:
    """Ray gives a node 30 s to start, and a machine that has much to do may need more."""
    for _ in range(2):
        with suppress(Exception):
            return start()
    return start()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head and what tests add to it; a dead node is noticed within seconds."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        noticing = {"health_check_period_ms": 1000, "health_check_failure_threshold": 5}
        head = {**NODE, "_system_config": noticing}
        started: Any = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        yield started
        started.shutdown()


@pytest.fixture(scope="module")
def second(cluster: Any) -> Any:
    return patiently(lambda: cluster.add_node(**NODE))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs, three of them sick, and two that cannot be read."""
    folder = tmp_path_factory.mktemp("history") / "runs"
    for number in range(RUNS):
        write_run(folder / f"trial-{number:02d}", number, sick=number % 4 == 0)
    for name, content in (("empty", b""), ("garbage", bytes(range(256)) * 40)):
        (folder / name).mkdir()
        (folder / name / "main.log").write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def local(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the local engine."""
    store = tmp_path_factory.mktemp("local")
    words = ["batch", str(root), "--store", str(store), "--jobs", "2", "--quiet"]
    assert run_command(words) == ExitCode.CANNOT_JUDGE
    return store


def files_of(store: Path) -> dict[str, bytes]:
    return {
        path.relative_to(store).as_posix(): path.read_bytes()
        for path in sorted(store.rglob("*"))
        if path.is_file()
    }


def words_for(root: Path, store: Path, cluster: Any) -> list[str]:
    ray = ["--engine", "ray", "--address", cluster.address]
    return ["batch", str(root), "--store", str(store), *ray, "--format", "json"]


def test_two_nodes_give_the_bytes_of_the_local_engine(
    cluster: Any,
    second: Any,
    root: Path,
    local: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = words_for(root, tmp_path, cluster)
    assert run_command(words) == ExitCode.CANNOT_JUDGE
    out, err = capsys.readouterr()
    assert err.splitlines()[-1] == "14 runs: 12 judged, 0 unchanged, 2 could not be judged"
    theirs, ours = files_of(tmp_path), files_of(local)
    assert theirs.keys() == ours.keys()
    assert [name for name in ours if theirs[name] != ours[name]] == []
    assert len([name for name in ours if name.startswith("fleet/rows/")]) == RUNS + 2

    assert run_command(["batch", str(root), "--store", str(local), "--format", "json"]) == 2
    assert capsys.readouterr().out == out
    assert run_command(words) == ExitCode.CANNOT_JUDGE
    assert "0 judged, 12 unchanged" in capsys.readouterr().err


def test_a_node_killed_in_the_middle_loses_nothing(
    cluster: Any,
    second: Any,
    root: Path,
    local: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = list(load_all(local))
    runs = [Found(e.row.path, e.row.run, e.listing, 0.0) for e in entries if not e.row.error]
    assert len(runs) == RUNS
    handed_out: list[Any] = []

    def dumps(what: Any) -> bytes:
        handed_out.append(what)
        return pickle.dumps(what)

    counting = SimpleNamespace(dumps=dumps, loads=pickle.loads)
    monkeypatch.setattr(ray_engine, "pickle", counting)
    ended: list[str] = []

    def done(run: Found, judged: bool) -> None:
        ended.append(run.path)
        if len(ended) == 3:
            cluster.remove_node(second, allow_graceful=False)

    run_on_ray(runs, Judging(Settings(store=tmp_path)), done, None, cluster.address)
    assert sorted(ended) == [run.path for run in runs]
    # What the node had in hand when it died was given to the other one.
    assert len([what for what in handed_out if isinstance(what, Found)]) > RUNS
    wanted = {name: text for name, text in rows_on_disk(local).items() if b'"error": null' in text}
    assert rows_on_disk(tmp_path) == wanted
    assert len(wanted) == RUNS
    # So are the tables of each run; a file that was being written may be left beside them.
    theirs = files_of(tmp_path)
    tables = {n: t for n, t in files_of(local).items() if not n.startswith("fleet/")}
    assert len(tables) > 5 * RUNS
    assert [name for name, content in tables.items() if theirs.get(name) != content] == []


@pytest.mark.skipif(weed() is None, reason=MISSING)
def test_workers_put_what_they_find_into_an_object_store(
    cluster: Any, root: Path, local: Path, tmp_path: Path
) -> None:
    with serving(tmp_path) as uri:
        store = uri.format("fleet")
        words = ["batch", str(root), "--store", store, "--engine", "ray", "--address"]
        assert run_command([*words, cluster.address]) == ExitCode.CANNOT_JUDGE
        depot = depot_at(store)
        assert depot is not None
        entries = list(load_all(depot.mirror))
    ours = list(load_all(local))
    assert [e.row for e in entries] == [e.row for e in ours]
    assert [e.document for e in entries] == [e.document for e in ours]
    tables = (depot.mirror / "fleet" / "runs.parquet").read_bytes()
    assert tables == (local / "fleet" / "runs.parquet").read_bytes()


def test_what_a_node_does_not_see_is_told_with_its_name(cluster: Any, tmp_path: Path) -> None:
    judging = Judging(Settings(store=tmp_path, today=date(2026, 11, 1)))
    run = Found(str(tmp_path / "elsewhere"), "elsewhere", "as listed", 0.0)
    run_on_ray([run], judging, lambda run, judged: None, None, cluster.address)
    entry = load(tmp_path, run.path)
    assert entry is not None
    assert entry.row.error is not None
    head = cluster.head_node
    assert entry.row.error.startswith(f"node {head.node_ip_address} ({head.node_id[:8]}) does not")
    assert entry.listing == ""  # so that the next batch tries it again


def test_a_node_with_another_version_ends_the_batch_in_one_line(
    cluster: Any, repository: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    for folder in ("analyzer", "rules", "templates"):
        shutil.copytree(repository / folder, other / folder)
    (other / "analyzer" / "__init__.py").write_text('__version__ = "0.0.1"\n', "utf-8")
    theirs = {"PYTHONPATH": str(other)}
    node = patiently(lambda: cluster.add_node(**NODE, env_vars=theirs))
    monkeypatch.chdir(tmp_path)  # Ray lets workers import from where the driver was started
    try:
        with pytest.raises(RunError) as caught:
            run_on_ray(
                [Found(str(root / "trial-00"), "trial-00", "", 0.0)],
                Judging(Settings(store=tmp_path / "store")),
                lambda run, judged: None,
                None,
                cluster.address,
            )
    finally:
        cluster.remove_node(node)
    assert str(caught.value) == (
        f"Ray: node {node.node_ip_address} ({node.node_id[:8]}): "
        f"analyzer 0.0.1 there, {__version__} here; install the same"
    )
    assert list(load_all(tmp_path / "store")) == []
