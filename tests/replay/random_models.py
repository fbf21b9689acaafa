"""Small random models of several architectures, and their log-probs from full logits."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

transformers: Any = pytest.importorskip("transformers")
SMALL = {
    "vocab_size": 199,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.4,  # so large that log-probs are far from uniform
}
GROUPED = {**SMALL, "num_key_value_heads": 2, "intermediate_size": 48}
# name → configuration class, its arguments
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {**GROUPED, "tie_word_embeddings": False}),
    "gpt2": (  # tied, LayerNorm, learned positions
        "GPT2Config",
        {
            "vocab_size": 199,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "n_positions": 64,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "initializer_range": 0.4,
        },
    ),
    "gemma2": (  # tied, soft-capped, windows narrower than the longest row
        "Gemma2Config",
        {
            **GROUPED,
            "head_dim": 8,
            "final_logit_softcapping": 5.0,
            "attn_logit_softcapping": 20.0,
            "sliding_window": 8,
        },
    ),
    "phi": ("PhiConfig", {**SMALL, "intermediate_size": 48}),  # a bias in the head
    "cohere": ("CohereConfig", {**GROUPED, "logit_scale": 0.25}),
    "granite": ("GraniteConfig", {**GROUPED, "logits_scaling": 3.0}),
}
ROWS = (13, 29, 2, 7, 29, 1, 18)


def save(name: str, folder: Path, **changed: Any) -> Path:
    """A random model of that name, saved as transformers does it."""
    kind, arguments = CONFIGS[name]
    torch.manual_seed(len(name))
    config = getattr(transformers, kind)(**{**arguments, **changed})
    model = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        if parameter.ndim == 1:  # biases and norms, which begin at 0 and 1
            parameter.data.add_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(str(folder), safe_serialization=True)
    return folder


@cache
def batch(width: int = 31, vocabulary: int = 199) -> dict[str, Tensor]:
    """Random rows of several lengths, right-padded."""
    generator = torch.Generator().manual_seed(5)
    ids = torch.randint(3, vocabulary, (len(ROWS), width), generator=generator)
    attention = torch.arange(width)[None] < torch.tensor(ROWS)[:, None]
    return {"input_ids": (ids * attention).int(), "attention_mask": attention}


def plainly(
    folder: Path, rows: dict[str, Tensor], temperature: float = 1.0, attention: str = "eager"
) -> Tensor:
    """Log-probs [B,T] in rolled alignment from full logits, one row at a time."""
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(folder), dtype=torch.float32, attn_implementation=attention
    )
    model.eval()
    found = torch.zeros(rows["input_ids"].shape)
    for number, length in enumerate(rows["attention_mask"].sum(-1).tolist()):
        ids = rows["input_ids"][number, :length].long()
        with torch.no_grad():
            logits = model(input_ids=ids[None]).logits[0].float() / temperature
        values = torch.log_softmax(logits, -1)[:-1].gather(-1, ids[1:, None])[:, 0]
        found[number, : length - 1] = values
    return found
