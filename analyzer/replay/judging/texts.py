"""The words of recorded rows, by the tokenizer that the manifest names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from analyzer.replay.judging.recomputed import Batch

LONGEST = 4_000  # characters of a text that is kept; of a longer one, its beginning and its end
_GAP = "\n[…]\n"


class TokenizerTexts:
    """Decodes rows; a tokenizer that cannot be opened gives no text, and is noted once."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._opened: dict[Path, Any] = {}

    def of(self, batch: Batch, row: int) -> tuple[str | None, str | None]:
        """Prompt, up to the first generated token, and completion; None where not to be had."""
        manifest = batch.bundle.manifest
        if manifest is None or manifest.text is None:
            return None, None
        tokenizer = self._tokenizer(batch.bundle.path / manifest.text.tokenizer)
        if tokenizer is None:
            return None, None
        tensors = batch.bundle.tensors
        ids = tensors["input_ids"][row][tensors["attention_mask"][row].bool()].tolist()
        generated = torch.nonzero(tensors["loss_mask"][row] != 0).flatten()
        first = int(generated[0]) if len(generated) else len(ids)
        return _shortened(tokenizer.decode(ids[:first])), _shortened(tokenizer.decode(ids[first:]))

    def _tokenizer(self, folder: Path) -> Any:
        if folder not in self._opened:
            self._opened[folder] = self._open(folder)
        return self._opened[folder]

    def _open(self, folder: Path) -> Any:
        try:
            from transformers import AutoTokenizer

            return AutoTokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
        # What transformers raises for a folder without a tokenizer is of every kind.
        except Exception as cause:
            reason = " ".join(str(cause).split())[:120] or type(cause).__name__
            self.notes.append(f"{folder.name}: no tokenizer can be opened there: {reason}")
            return None


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = (LONGEST - len(_GAP)) // 2
    return text[:half] + _GAP + text[-half:]
