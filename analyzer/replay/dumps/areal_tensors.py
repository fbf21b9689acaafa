"""AReaL's tensors saved with `torch.save`: a batch, or a list of trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from analyzer.errors import AnalyzerError
from analyzer.replay.bundle import Bundle
from analyzer.replay.config import ReplayConfig
from analyzer.replay.dumps import torch_file
from analyzer.replay.dumps.dump import Dump, Part, unreadable
from analyzer.replay.formulas.alignment import to_prediction
from analyzer.replay.layout import dtype_name
from analyzer.replay.recording.job import Job, job_of, settled
from analyzer.replay.recording.settings import settings_of
from analyzer.strict_yaml import load_document

_CONFIG = "config.yaml"
_NO_CONFIG = f"the trainer's configuration is not in it; lay AReaL's {_CONFIG} beside it"
_NO_EOS = "it does not say which token ends a sequence"


class ArealTensors:
    """`torch.save` of what `compute_advantages` or `ppo_update` is called with.

    Names and shapes are those of a recorded batch (docs/recording.md). Batches from before and
    from after `compute_advantages` are told apart by the tensors that it adds.
    """

    format = "AReaL tensors"

    def sniff(self, path: Path) -> bool:
        """By the keys in the pickle."""
        found = torch_file.names(path)
        return all(name in found for name in (b"input_ids", b"loss_mask", b"logprobs"))

    def read(self, path: Path) -> Dump:
        """Rewards, groups, weights, and the batch for stage 1; stage 0 with a config.yaml."""
        content = torch_file.load(path)
        settings, why = _settings(path.parent / _CONFIG)
        try:
            job = settled(job_of(0, content, settings, {"conventions": "auto"}))
        except AnalyzerError as error:
            raise unreadable(path, error.message) from None
        groups = _groups(content)
        weights, no_weights = _log_weights(job.tensors)
        bundle = None if why else _bundle(path, job)
        lacks: dict[Part, str] = {"truncation": _NO_EOS}
        if groups is None:
            lacks["groups"] = "it is one batch, not a list of trajectories"
        if weights is None:
            lacks["weights"] = no_weights
        if isinstance(bundle, str):
            why, bundle = bundle, None
        if bundle is None:
            lacks["stage-0"] = why
        return Dump(
            path,
            self.format,
            len(job.tensors["rewards"]),
            lacks,
            rewards=job.tensors["rewards"].tolist(),
            groups=groups,
            log_weights=weights,
            batch=job.tensors,
            bundle=bundle,
            notes=tuple(job.manifest["notes"]),
        )


def _settings(path: Path) -> tuple[dict[str, Any], str]:
    """The configuration beside a dump, and why there is none."""
    if not path.is_file():
        return {"actor": {}}, _NO_CONFIG
    document = load_document(path)
    if document.errors or not isinstance(document.data, Mapping):
        return {"actor": {}}, f"{_CONFIG} beside it cannot be read"
    return settings_of(document.data), ""


def _bundle(path: Path, job: Job) -> Bundle | str:
    """The batch with its configuration, or what is wrong with that."""
    settings = job.manifest["config"]
    try:
        config = ReplayConfig.model_validate(settings)
    except ValidationError as cause:
        fault = cause.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        return f"{_CONFIG} beside it: {where}: {fault['msg'].lower()}"
    dtypes = {name: dtype_name(tensor.dtype) for name, tensor in job.tensors.items()}
    return Bundle(
        path,
        job.tensors,
        config,
        settings,
        dtypes=dtypes | dict(job.captured.came_as),
        notes=tuple(job.manifest["notes"]),
    )


def _groups(content: Any) -> list[int] | None:
    if isinstance(content, Mapping):
        return None
    sizes = [len(trajectory["input_ids"]) for trajectory in content]
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def _log_weights(tensors: Mapping[str, Tensor]) -> tuple[Tensor | None, str]:
    if "prox_logp" not in tensors:
        return None, "the trainer's own log-probs before the update (prox_logp) are not in it"
    mask = to_prediction(tensors["loss_mask"]).bool()
    difference = (tensors["prox_logp"] - to_prediction(tensors["logprobs"]))[mask]
    if not bool(torch.any(difference != 0)):
        return None, "prox_logp is a copy of the log-probs of inference"
    return difference, ""
