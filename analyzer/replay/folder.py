"""Names in and of the folder of a recorded batch; the standard library is all it needs."""

from __future__ import annotations

MANIFEST = "manifest.json"
BATCH = "batch.safetensors"
KIND = "recorded-batch"
SCHEMA_VERSION = 1
DEFAULT_FOLDER = "recorded"
UNFINISHED = "."  # what a folder's name begins with until it is complete


def step_folder(step: int, again: int = 0) -> str:
    """`step_00000012`; `again` counts the earlier recordings of that step."""
    return f"step_{step:08}.{again}" if again else f"step_{step:08}"
