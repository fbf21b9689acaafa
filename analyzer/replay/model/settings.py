"""How log-probs are recomputed: everything that may change their values, or their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.errors import UsageError

Dtype = Literal["float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
DTYPES: tuple[Dtype, ...] = ("float64", "float32", "bfloat16", "float16")
HELD: tuple[Dtype, ...] = ("float8_e4m3fn", "float8_e5m2")
"""Weights are rounded to these, without scales, and computed with in float32."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to recompute and how; the defaults are those of a trainer that samples at 1.

    Raises UsageError for a value that means nothing.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    """Below 1: log-probs over the most likely tokens that hold this much, as an engine samples."""
    top_k: int = 0
    """Above 0: log-probs over that many most likely tokens, before `top_p`."""
    dtype: Dtype | None = "float32"
    """Of weights and activations; None: as the checkpoint says. Logits become float32 (float64
    in float64) before they are divided by the temperature, as AReaL does it. One of `HELD`:
    of the weights alone."""
    attention: str | None = None
    """`eager`, `sdpa`, `flash_attention_2` …; None: what transformers takes by itself."""
    device: str = "auto"
    """`auto` is CUDA, else MPS, else CPU."""
    device_map: str | None = None
    """As transformers has it (`auto`, `balanced` …), for models larger than one GPU."""
    tokens: int | None = None
    """Padded tokens in a micro-batch; None: by device. A longer row is a micro-batch of its own."""
    chunk: int | None = None
    """Logits that exist at one time; None: by device."""
    deterministic: bool = False
    """Deterministic algorithms only; RunError where an operation has none."""
    entropy: bool = True
    extremes: bool = False
    """The smallest and largest logit of each position, before the temperature."""

    def __post_init__(self) -> None:
        for wrong, message in (
            (not 0 < self.temperature < float("inf"), f"temperature is {self.temperature}"),
            (not 0 < self.top_p <= 1, f"top_p is {self.top_p}"),
            (self.top_k < 0, f"top_k is {self.top_k}"),
            (self.dtype not in (None, *DTYPES, *HELD), f"dtype is {self.dtype!r}"),
            (self.tokens is not None and self.tokens < 1, f"tokens is {self.tokens}"),
            (self.chunk is not None and self.chunk < 1, f"chunk is {self.chunk}"),
        ):
            if wrong:
                raise UsageError(f"no log-probs can be recomputed: {message}")

    @property
    def truncated(self) -> bool:
        """Whether only some of the vocabulary counts."""
        return self.top_p < 1 or self.top_k > 0
