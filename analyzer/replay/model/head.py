"""From hidden states to logits: a model's last step, taken for part of the vocabulary at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Head:
    """`logits = cap·tanh(scale·(hidden @ weight.T + bias) / cap)`, in the weight's dtype."""

    weight: Tensor
    """[V,H]; the input embeddings themselves where they are tied."""
    bias: Tensor | None = None
    scale: float = 1.0
    cap: float | None = None
    """Gemma's final soft cap."""

    @property
    def vocabulary(self) -> int:
        """The number of logits a position has."""
        return int(self.weight.shape[0])

    def logits(self, hidden: Tensor, columns: slice, out: Tensor | None = None) -> Tensor:
        """Logits [N, columns] of hidden states [N,H]; `out` takes them, without gradient."""
        weight = self.weight[columns].t()
        if self.bias is None:
            found = torch.mm(hidden, weight) if out is None else torch.mm(hidden, weight, out=out)
        elif out is None:
            found = torch.addmm(self.bias[columns], hidden, weight)
        else:
            found = torch.addmm(self.bias[columns], hidden, weight, out=out)
        if self.scale != 1:
            found = found * self.scale if out is None else found.mul_(self.scale)
        if self.cap is None:
            return found
        if out is None:
            return torch.tanh(found / self.cap) * self.cap
        return found.div_(self.cap).tanh_().mul_(self.cap)


def head_of(model: Any, detached: bool = True) -> Head | None:
    """The head of a transformers causal LM; None where it has no linear one.

    Detached, it shares the model's memory but takes no part in gradients.
    """
    layer = model.get_output_embeddings()
    weight = getattr(layer, "weight", None)
    if weight is None or weight.ndim != 2:
        return None
    config = model.config.get_text_config()
    cap = getattr(config, "final_logit_softcapping", None)
    bias = getattr(layer, "bias", None)
    if detached:
        weight, bias = weight.detach(), None if bias is None else bias.detach()
    return Head(
        weight,
        bias,
        _scale(config),
        None if cap is None else float(cap),
    )


# Configuration key → what it multiplies the logits by, by the way the architectures use it.
_SCALES: dict[str, Callable[[float], float]] = {
    "logit_scale": lambda value: value,  # Cohere
    "logits_scaling": lambda value: 1 / value,  # Granite; `unlike` finds those that multiply
    "lm_head_multiplier": lambda value: value,  # Falcon-H1
}


def _scale(config: Any) -> float:
    scale = 1.0
    for key, factor in _SCALES.items():
        value = getattr(config, key, None)
        if value is not None:
            scale *= factor(float(value))
    return scale


def unlike(model: Any, head: Head, hidden: Callable[[Tensor], Tensor]) -> float | None:
    """How far the head's logits are from the model's own on a few tokens; None: near enough.

    An architecture that does something else after its base model is found so, whatever it is.
    """
    device = model.get_input_embeddings().weight.device
    ids = (torch.arange(1, 9, device=device) % head.vocabulary)[None]
    with torch.no_grad():
        every = torch.ones_like(ids)
        own = (
            model(input_ids=ids, attention_mask=every, use_cache=False)
            .logits[0]
            .to(head.weight.device)
            .float()
        )
        ours = head.logits(hidden(ids)[0].to(head.weight.device), slice(None)).float()
    if own.shape != ours.shape:
        return float("inf")
    off = float((own - ours).abs().max())
    # One operation in another order moves a logit by some units in its last place.
    bound = 64 * torch.finfo(head.weight.dtype).eps * (1 + float(own.abs().max()))
    return None if off <= bound else off
