"""Imported first by test modules that open checkpoints: skips them where a package is lacking."""

from __future__ import annotations

import needs_torch
import pytest

pytest.importorskip("transformers", reason=needs_torch.REASON.replace("torch", "transformers"))
