"""An exception that AReaL itself raises for a batch: a result of the replay, not a fault of it."""

from __future__ import annotations


class ArealRaises(Exception):
    """AReaL ends here; `kind` is the exception's type and `stage` the function it comes from."""

    def __init__(self, kind: str, message: str, stage: str = "ppo_update") -> None:
        self.kind = kind
        self.message = message
        self.stage = stage
        super().__init__(f"{kind}: {message}")
