"""Policies on disk, as Hugging Face lays them out, and recovery states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from sample_logs.lab import policy, task
from sample_logs.lab.policy import Shape

MODEL = "model.safetensors"
CONFIG = "config.json"
RECOVER = "recover.pt"


def save(folder: Path, shape: Shape, flat: Tensor) -> None:
    """Write `config.json` and `model.safetensors` of a Llama."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(description(shape), indent=2) + "\n", "utf-8")
    save_file(named(policy.weights(flat.detach(), shape)), folder / MODEL, {"format": "pt"})


def load(folder: Path) -> tuple[Shape, Tensor]:
    """The shape and the flat tensor of a policy that `save` wrote."""
    told = json.loads((folder / CONFIG).read_text("utf-8"))
    shape = Shape(
        hidden=told["hidden_size"],
        intermediate=told["intermediate_size"],
        heads=told["num_attention_heads"],
        layers=told["num_hidden_layers"],
        vocabulary=told["vocab_size"],
    )
    tensors = load_file(folder / MODEL)
    pieces = [tensors["model.embed_tokens.weight"]]
    for number in range(shape.layers):
        part = {
            name.removeprefix(f"model.layers.{number}."): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"model.layers.{number}.")
        }
        pieces += [
            part["input_layernorm.weight"],
            torch.cat([part[f"self_attn.{x}_proj.weight"] for x in "qkv"]),
            part["self_attn.o_proj.weight"],
            part["post_attention_layernorm.weight"],
            torch.cat([part[f"mlp.{x}_proj.weight"] for x in ("gate", "up")]),
            part["mlp.down_proj.weight"],
        ]
    pieces += [tensors["model.norm.weight"], tensors["lm_head.weight"]]
    return shape, torch.cat([piece.reshape(-1) for piece in pieces])


def named(w: policy.Weights) -> dict[str, Tensor]:
    """The parameters under Llama's names."""
    found = {
        "model.embed_tokens.weight": w.embedding,
        "model.norm.weight": w.norm,
        "lm_head.weight": w.head,
    }
    for number, layer in enumerate(w.layers):
        at = f"model.layers.{number}."
        found[f"{at}input_layernorm.weight"] = layer.norm
        for name, tensor in zip("qkv", layer.qkv.chunk(3), strict=True):
            found[f"{at}self_attn.{name}_proj.weight"] = tensor
        found[f"{at}self_attn.o_proj.weight"] = layer.out
        found[f"{at}post_attention_layernorm.weight"] = layer.norm_mlp
        for name, tensor in zip(("gate", "up"), layer.gate_up.chunk(2), strict=True):
            found[f"{at}mlp.{name}_proj.weight"] = tensor
        found[f"{at}mlp.down_proj.weight"] = layer.down
    return {name: tensor.contiguous().clone() for name, tensor in found.items()}


def description(shape: Shape) -> dict[str, Any]:
    """`config.json` of a Llama of this shape."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "torch_dtype": "float32",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.head_size,
        "hidden_act": "silu",
        "rms_norm_eps": policy.EPS,
        "rope_theta": policy.ROPE_BASE,
        "max_position_embeddings": policy.MOST_POSITIONS,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": False,
        "bos_token_id": task.BOS,
        "eos_token_id": task.EOS,
        "pad_token_id": task.PAD,
    }


def save_recovery(folder: Path, state: dict[str, Any]) -> None:
    """Write what a run needs to go on from here."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(state, folder / RECOVER)


def load_recovery(folder: Path) -> dict[str, Any]:
    """What `save_recovery` wrote."""
    state: dict[str, Any] = torch.load(folder / RECOVER, weights_only=True)
    return state


def of_version(out: Path, version: int) -> Path:
    """The folder of a policy version below a run's folder."""
    return out / "checkpoints" / f"v{version}"
