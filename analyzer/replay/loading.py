"""The recorded steps of a run, opened one by one and kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from analyzer.errors import RunError
from analyzer.findings.replayed import ReplayedStep, StepRole
from analyzer.replay.asked import Asked
from analyzer.replay.bundle import Bundle, read_bundle
from analyzer.replay.conventions import AREAL_2026_08, Conventions
from analyzer.replay.judging.comparing import Sides, sides
from analyzer.replay.judging.recomputed import recompute
from analyzer.replay.judging.verdicts import step_outcome
from analyzer.replay.manifest import RecordedStep
from analyzer.replay.parts import put_together, shares
from analyzer.tables.evidence import Series
from analyzer.tables.run import RunTables

ROOM = 4 * 2**30  # bytes of recorded tensors that are kept


class Steps:
    """Recorded batches by step, recomputed when first asked for."""

    def __init__(
        self, root: Path, recorded: Sequence[RecordedStep], tables: RunTables, asked: Asked
    ) -> None:
        """`root` is what paths are relative to. Of a step recorded twice the last one counts."""
        self.root, self.tables, self.asked = root, tables, asked
        self.notes: list[str] = []
        self._conventions_used: set[str] = set()
        by_step: dict[int, list[RecordedStep]] = {}
        for one in recorded:
            if one.fault or one.step is None:
                self._leave_out(one.path, one.fault)
            else:
                by_step.setdefault(one.step, []).append(one)
        self._recorded = {step: shares(of_step) for step, of_step in by_step.items()}
        self._open: OrderedDict[int, Sides] = OrderedDict()

    @property
    def conventions(self) -> str | None:
        """The version whose conventions the batches were recomputed by; None without any."""
        return ", ".join(sorted(self._conventions_used)) or None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The steps that can be replayed."""
        return tuple(sorted(self._recorded))

    def get(self, step: int) -> Sides | None:
        """Log and batch of a step; None where it cannot be read, which is noted."""
        if step not in self._recorded:
            return None
        if step not in self._open:
            try:
                self._open[step] = self._read(step)
            except RunError as error:
                self._leave_out(self._recorded.pop(step)[0].path, str(error))
                return None
            self._make_room()
        self._open.move_to_end(step)
        return self._open[step]

    def _read(self, step: int) -> Sides:
        bundle = put_together([read_bundle(one.path) for one in self._recorded[step]])
        conventions = self._conventions(bundle)
        batch = recompute(step, bundle, conventions, self.tables.catalog)
        self._conventions_used.add(conventions.name)
        return sides(batch, self.tables)

    def _conventions(self, bundle: Bundle) -> Conventions:
        """Those asked for or recorded; else the log tells, by names that only a later one has."""
        manifest, asked = bundle.manifest, self.asked.conventions
        recorded = manifest.conventions if manifest is not None else "auto"
        if (asked, recorded) == ("auto", "auto") and isinstance(
            self.tables.series("logp_diff"), Series
        ):
            return AREAL_2026_08
        return bundle.conventions(asked)

    def _make_room(self) -> None:
        while len(self._open) > 1 and sum(_bytes(both) for both in self._open.values()) > ROOM:
            self._open.popitem(last=False)

    def _leave_out(self, path: Path, reason: str) -> None:
        """Note a batch that is not replayed; paths in the reason become relative to the run."""
        told = reason.replace(f"{self.root}/", "")
        self.notes.append(f"{self._shown(path)} is left out: {told}")

    def _shown(self, path: Path) -> str:
        return (
            path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)
        )

    def outcome(self, step: int, role: StepRole, scored: bool) -> ReplayedStep | None:
        """What the batch says of the log at its step; None where it cannot be read."""
        both = self.get(step)
        if both is None:
            return None
        found, bundle = step_outcome(both), both.batch.bundle
        return ReplayedStep(
            step,
            self._shown(bundle.path),
            role,
            1 if scored else 0,
            bundle.rows,
            bundle.rows_of,
            found.outcome,
            found.why,
            found.compared,
        )


def _bytes(both: Sides) -> int:
    """Of the recorded tensors; what is recomputed of them is about as much again."""
    tensors = both.batch.bundle.tensors.values()
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
