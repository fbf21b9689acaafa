"""Workers of a Ray cluster: one task a run, on whatever node has a processor free.

A worker judges and publishes as a local one does. Ray's own retries are not used, since for a task
that takes too much memory they have no end: what is lost with a worker or its node is handed out
again here, so often and no more. All that crosses between driver and worker is of plain types, so
that a worker whose program is another one can still say so.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from analyzer import __version__
from analyzer.errors import AnalyzerError, Location, RunError, UsageError
from analyzer.fleet.engine import Done, limit_memory, memory_share
from analyzer.fleet.find import Found
from analyzer.fleet.judge import Judging, Work, rules_key
from analyzer.fleet.rows import FLEET, written
from analyzer.pipeline import open_rules

_TRIES = 3  # of a run whose worker or node is lost
_RUNS_A_WORKER = 50  # then a new one: what libraries do not give back stays bounded
_ANSWER_S = 120.0  # within which each node has to say that it is ready
_WAITING = 2  # tasks handed out for each processor, so that none waits for the driver

Told = tuple[Literal["judged", "unchanged", "unlike", "unseen", "store"], str]


@dataclass(frozen=True)
class _Order:
    """What is told to each worker, beside the run."""

    version: str
    key: str  # digest of the rules and all that bears on a judgement
    folder: str  # that analyzer was started in: paths in the settings are relative to it
    judging: bytes  # pickled; of no use to another version

    def arguments(self) -> tuple[str, str, str, bytes]:
        return self.version, self.key, self.folder, self.judging


def run_on_ray(
    runs: Sequence[Found], judging: Judging, done: Done, jobs: int | None, address: str | None
) -> None:
    """Judge the runs on the cluster at an address, at most `jobs` at the same time.

    No address: the cluster that RAY_ADDRESS names, or the one on this machine. Raises UsageError
    where Ray is not installed; RunError where there is no cluster, a node has another program or
    other rules, does not see the store, or a row cannot be written.
    """
    ray = _ray()
    settings = replace(judging.settings, store=judging.settings.store.resolve())
    judging = replace(judging, settings=settings)
    key = rules_key(open_rules(settings), settings)
    order = _Order(__version__, key, str(Path.cwd()), pickle.dumps(judging))
    with _connected(ray, address):
        _ask_nodes(ray, order, judging)
        _hand_out(ray, runs, order, judging, done, jobs)


def _ray() -> ModuleType:
    try:
        return import_module("ray")
    except ImportError as cause:
        raise UsageError(
            "--engine ray: Ray is not installed here",
            hint="pip install 'rl-run-analyzer[ray]'; on each node of the cluster too",
        ) from cause


@contextmanager
def _connected(ray: ModuleType, address: str | None) -> Iterator[None]:
    place = Location(address or "Ray")
    try:
        ray.init(address=address or "auto", log_to_driver=False, logging_level="ERROR")
    except Exception as cause:  # of many kinds, by what it is that does not answer
        raise RunError(
            f"no Ray cluster: {' '.join(str(cause).split())}",
            at=place,
            hint="start one with `ray start --head`, and give its HOST:PORT as --address",
        ) from cause
    try:
        yield
    except ray.exceptions.RayError as cause:
        raise RunError(
            f"the cluster was lost: {_line(cause)}", at=place, hint="what was done is kept: go on"
        ) from cause
    finally:
        ray.shutdown()


def _line(cause: BaseException) -> str:
    """The first line of an error of Ray's; the further ones are stacks and advice."""
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0]


def _ask_nodes(ray: ModuleType, order: _Order, judging: Judging) -> None:
    """Has every node this program and these rules, and does it see the store?"""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = {n["NodeID"]: n for n in ray.nodes() if n["Alive"] and n["Resources"].get("CPU")}
    if not nodes:
        raise RunError("no node with a processor", at=Location("Ray"))
    mark = judging.settings.store / FLEET / f"seen-{uuid.uuid4().hex}"
    if judging.depot is None:
        written(mark, b"")
    try:
        task = ray.remote(num_cpus=0, max_retries=0)(node_is_ready)
        seen = "" if judging.depot else str(mark)
        asked = {
            task.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)
            ).remote(*order.arguments(), seen): node
            for node in nodes
        }
        answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=_ANSWER_S)
        faults = [f"{_name(nodes[asked[ref]])}: no answer in {_ANSWER_S:.0f} s" for ref in silent]
        for ref in answered:
            if fault := _answer(ray, ref):
                faults.append(f"{_name(nodes[asked[ref]])}: {fault}")
    finally:
        mark.unlink(missing_ok=True)
    if faults:
        raise RunError("; ".join(sorted(faults)), at=Location("Ray"))


def _answer(ray: ModuleType, ref: Any) -> str:
    """What is wrong with a node, "" where nothing is."""
    try:
        return str(ray.get(ref))
    except ray.exceptions.RayTaskError:
        return f"analyzer {__version__} cannot be imported there"
    except (ray.exceptions.TaskUnschedulableError, ray.exceptions.NodeDiedError):
        return ""  # it has left the cluster
    except ray.exceptions.RayError as cause:
        return f"its worker ended: {_line(cause)}"


def _name(node: dict[str, Any]) -> str:
    """A node as it is told to a person; several can be on one machine."""
    return f"node {node['NodeManagerAddress']} ({node['NodeID'][:8]})"


def _hand_out(
    ray: ModuleType,
    runs: Sequence[Found],
    order: _Order,
    judging: Judging,
    done: Done,
    jobs: int | None,
) -> None:
    task = ray.remote(num_cpus=1, max_retries=0, max_calls=_RUNS_A_WORKER)(judge_here)
    shared = ray.put(order.arguments())
    waiting = [(run, 1) for run in reversed(runs)]
    out: dict[Any, tuple[Found, int]] = {}
    while waiting or out:
        # Nodes may come and go meanwhile.
        limit = jobs or max(1, int(ray.cluster_resources().get("CPU", 1))) * _WAITING
        while waiting and len(out) < limit:
            run, tries = waiting.pop()
            out[task.remote(shared, pickle.dumps(run))] = (run, tries)
        for ref in ray.wait(list(out))[0]:
            run, tries = out.pop(ref)
            try:
                what, text = ray.get(ref)
            except ray.exceptions.RayError as cause:
                if tries < _TRIES:
                    waiting.append((run, tries + 1))
                    continue
                what, text = "unlike", f"its worker ended {tries} times: {_line(cause)}"
            if what == "store":
                raise RunError(text)
            if what in ("unlike", "unseen"):
                judging.fail(run, text)
            done(run, what == "judged")


def node_is_ready(version: str, key: str, folder: str, judging: bytes, mark: str) -> str:
    """On a node: what is wrong with it, "" where nothing is; `mark` is a file of the store."""
    try:
        _work(version, key, folder, judging)
    except AnalyzerError as cause:
        return str(cause)
    if mark and not Path(mark).exists():
        return f"does not see the store {Path(mark).parent.parent}; give a shared folder or s3://"
    return ""


def judge_here(order: tuple[str, str, str, bytes], run: bytes) -> Told:
    """On a node: judge a run and publish its row."""
    try:
        work = _work(*order)
    except AnalyzerError as cause:
        return "unlike", f"{_this_node()}: {cause}"
    found: Found = pickle.loads(run)
    if not os.path.lexists(found.path.partition("#")[0]):
        return "unseen", f"{_this_node()} does not see it; every node needs it at this path"
    try:
        return ("judged" if work(found) else "unchanged"), ""
    except RunError as cause:
        return "store", f"{_this_node()}: {cause}"


@cache
def _work(version: str, key: str, folder: str, pickled: bytes) -> Work:
    """This process's work. Raises AnalyzerError where it would not judge as the driver would."""
    if version != __version__:
        raise RunError(f"analyzer {__version__} there, {version} here; install the same")
    with suppress(OSError):  # then only what is absolute is found
        os.chdir(folder)
    judging: Judging = pickle.loads(pickled)
    if judging.depot:
        depot = judging.depot.here()
        settings = replace(judging.settings, store=depot.mirror)
        judging = replace(judging, settings=settings, depot=depot)
    theirs = rules_key(open_rules(judging.settings), judging.settings)
    if theirs != key:
        raise RunError("other rules there than here; install the same, and share rule folders")
    limit_memory(memory_share(_processors()))
    return judging.work()


def _processors() -> int:
    """How many workers the node that this is may have."""
    ray = _ray()
    here = ray.get_runtime_context().get_node_id()
    of_node = [n["Resources"].get("CPU", 1) for n in ray.nodes() if n["NodeID"] == here]
    return max(1, int(of_node[0])) if of_node else 1


def _this_node() -> str:
    ray = _ray()
    here = ray.get_runtime_context().get_node_id()
    return next((_name(node) for node in ray.nodes() if node["NodeID"] == here), f"node {here}")
