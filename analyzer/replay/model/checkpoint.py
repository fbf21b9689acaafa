"""A Hugging Face checkpoint, opened from a local folder: safetensors only, no code of its own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from analyzer.errors import Location, RunError
from analyzer.replay.model.head import Head, head_of, unlike
from analyzer.replay.model.settings import DTYPES, HELD, Dtype, Settings

CONFIG = "config.json"
WEIGHTS = "*.safetensors"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_SHOWN = 3


@dataclass(frozen=True)
class Checkpoint:
    """A causal LM in memory, ready to give hidden states."""

    path: Path
    model: Any
    """The transformers model, in evaluation mode."""
    head: Head
    device: torch.device
    """Where its input goes."""
    dtype: Dtype
    """Of the weights, or what they were rounded to."""

    @property
    def bytes(self) -> int:
        """What the weights take, tied ones counted once."""
        return sum(p.numel() * p.element_size() for p in self.model.parameters())

    def hidden(self, ids: Tensor) -> Tensor:
        """Last hidden states [b,t,H] of right-padded token ids [b,t].

        Attention is causal, so what stands to the right of a token changes nothing: the mask says
        that nothing is padding, which lets kernels do without one.
        """
        found = self.model.base_model(
            input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False
        )
        hidden: Tensor = found.last_hidden_state
        return hidden


def open_checkpoint(folder: Path, settings: Settings) -> Checkpoint:
    """The causal LM of a folder, on the device and in the dtype asked for; nothing is downloaded.

    Raises RunError, in one line, where transformers is not installed, and for a checkpoint that is
    missing, cut, does not fit its configuration, has its weights as pickle only, or computes its
    logits in a way that is not known here.
    """
    transformers = _transformers(settings)
    _check_files(folder)
    if settings.deterministic:
        allow_deterministic()
    device = resolve_device(settings.device)
    with _quiet(transformers):
        model = _load(transformers, folder, settings, device)
    model.eval()
    head = head_of(model)
    if head is None or model.base_model is model:
        raise _wrong(folder, f"{type(model).__name__} has no base model with a linear head")
    if head.weight.is_meta:
        raise _wrong(folder, "its head does not fit on the devices", "a smaller dtype, or more")
    dtypes = {getattr(torch, name): name for name in DTYPES}
    if head.weight.dtype not in dtypes:
        raise _wrong(folder, f"has weights in {head.weight.dtype}", f"of {', '.join(DTYPES)}")
    inputs = model.get_input_embeddings().weight.device
    held = settings.dtype if settings.dtype in HELD else dtypes[head.weight.dtype]
    found = Checkpoint(folder, model, head, inputs, held)
    off = unlike(model, head, found.hidden)
    if off is not None:
        raise _wrong(
            folder,
            f"{type(model).__name__} does more to its logits than is known here "
            f"(they differ by {off:.3g})",
        )
    return found


def allow_deterministic() -> None:
    """Let cuBLAS compute deterministically later on: it reads this when it is first used."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


def resolve_device(name: str) -> torch.device:
    """The device of that name; `auto` is CUDA, else MPS, else CPU.

    Raises RunError where it is not there.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as cause:
        reason = str(cause).splitlines()[0]
        raise RunError(f"device {name!r} is not there: {reason}") from cause
    return device


def fingerprint(folder: Path) -> str:
    """A hash of the configuration and of every weight."""
    digest = hashlib.blake2b(digest_size=16)
    for path in [folder / CONFIG, *sorted(folder.glob(WEIGHTS))]:
        digest.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                digest.update(block)
    return digest.hexdigest()


def _transformers(settings: Settings) -> Any:
    try:
        import transformers

        if settings.device_map is not None:
            import accelerate  # noqa: F401
    except ImportError as cause:
        name = cause.name or "transformers"
        raise RunError(
            f"log-probs from a checkpoint need {name}, which is not installed",
            hint="pip install accelerate"
            if name == "accelerate"
            else "pip install 'rl-run-analyzer[replay]'",
        ) from None
    return transformers


def _check_files(folder: Path) -> None:
    if not folder.is_dir():
        raise _wrong(folder, "is no folder", "a checkpoint as transformers saves it")
    if not (folder / CONFIG).is_file():
        raise _wrong(folder, f"holds no {CONFIG}", "a checkpoint as transformers saves it")
    weights = sorted(folder.glob(WEIGHTS))
    if not weights:
        pickles = [path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))]
        if pickles:
            raise _wrong(
                folder,
                f"has its weights as pickle only ({pickles[0]}), which can run code: not opened",
                "save the model as safetensors",
            )
        raise _wrong(folder, "holds no weights", "model.safetensors, or several with an index")
    for path in weights:
        try:
            # Opening compares the header with the length of the file.
            with safe_open(path, framework="pt"):
                pass
        except (SafetensorError, OSError, ValueError) as cause:
            reason = " ".join(str(cause).split())
            raise _wrong(path, f"cannot be read: {reason}", "cut short; copy it again") from cause


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    logging = transformers.utils.logging
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def _load(transformers: Any, folder: Path, settings: Settings, device: torch.device) -> Any:
    computed: Any = "auto"
    if settings.dtype is not None:
        computed = getattr(torch, "float32" if settings.dtype in HELD else settings.dtype)
    options: dict[str, Any] = {
        "dtype": computed,
        "local_files_only": True,
        "trust_remote_code": False,
        "use_safetensors": True,
        "output_loading_info": True,
    }
    if settings.attention is not None:
        options["attn_implementation"] = settings.attention
    if settings.device_map is not None:
        options["device_map"] = settings.device_map
    try:
        model, info = transformers.AutoModelForCausalLM.from_pretrained(str(folder), **options)
        if settings.device_map is None:
            model.to(device)
        if settings.dtype in HELD:
            _round(model, getattr(torch, settings.dtype))
    except torch.OutOfMemoryError as cause:
        raise _wrong(
            folder, "does not fit on the device", "device_map, or a smaller dtype"
        ) from cause
    # What transformers raises for a checkpoint it cannot use is of every kind.
    except Exception as cause:
        reason = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise _wrong(folder, f"cannot be loaded: {reason}") from cause
    for what in ("missing_keys", "mismatched_keys", "unexpected_keys"):
        names = sorted(str(name) for name in info.get(what) or ())
        if names:
            shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
            raise _wrong(
                folder,
                f"weights and {CONFIG} do not fit: {len(names)} {what.split('_')[0]} ({shown})",
            )
    return model


def _round(model: Any, dtype: torch.dtype) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.to(dtype))


def _wrong(path: Path, message: str, hint: str = "") -> RunError:
    return RunError(message, at=Location(str(path)), hint=hint)
