"""Imported first by test modules that need torch: skips them where it is not installed."""

from __future__ import annotations

import pytest

REASON = "torch is not installed: pip install 'rl-run-analyzer[replay]'"
pytest.importorskip("torch", reason=REASON)
pytest.importorskip("safetensors", reason=REASON)
