"""Text as AReaL writes it, made by the tests: every variant of the same statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

CLOCK = "20261129-14:58:07.185"
OUTER = "2026-11-29T06:58:07.185123456Z"
GREEN, RESET = "\x1b[92m", "\x1b[0m"
HEADER = "\x1b[1;38;2;180;140;80m(AReaL)\x1b[0m "


@dataclass(frozen=True)
class Style:
    """How the lines of a log look."""

    header: bool = True
    colours: bool = True
    worker: str = ""  # "[main]    ", before the first line of a record
    outer: str = ""  # a container's time and a space, before every line
    newline: str = "\n"
    bar: str = "│"


def table_lines(
    values: Mapping[str, str], pairs: int = 4, bar: str = "│", widths: tuple[int, int] = (1, 11)
) -> list[str]:
    """The box table, column by column as AReaL fills it; values stand as they are given."""
    names = list(values)
    height = -(-len(names) // pairs)
    rows = [names[start::height] for start in range(height)]
    width = max([*map(len, names), widths[0]])
    line = ["═" * (width + 2), "═" * (widths[1] + 2)] * pairs
    edges = ("╒╤╕", "├┼┤", "╘╧╛") if bar == "│" else ("+++", "+++", "+++")
    lines = [edges[0][0] + edges[0][1].join(line) + edges[0][2]]
    for index, row in enumerate(rows):
        cells = [
            cell
            for name in row
            for cell in (f" {name:<{width}} ", f" {values[name]:>{widths[1]}} ")
        ]
        cells += [" " * (width + 2), " " * (widths[1] + 2)] * (pairs - len(row))
        lines.append(bar + bar.join(cells) + bar)
        if index < height - 1:
            inner = edges[1][0] + edges[1][1].join(line) + edges[1][2]
            lines.append(inner.replace("═", "─"))
    lines.append(edges[2][0] + edges[2][1].join(line) + edges[2][2])
    return lines if bar == "│" else [ln.replace("═", "=").replace("─", "-") for ln in lines]


@dataclass
class ArealLog:
    """A log that is written statement by statement."""

    style: Style = field(default_factory=Style)
    lines: list[str] = field(default_factory=list)

    def plain(self, *lines: str) -> ArealLog:
        """Lines that AReaL's logging did not write."""
        self.lines += lines
        return self

    def record(
        self, message: str, logger: str = "StatsLogger", level: str = "INFO", clock: str = CLOCK
    ) -> ArealLog:
        """One record of AReaL's logging, of one line or more."""
        style = self.style
        head = style.worker + ((HEADER if style.colours else "(AReaL) ") if style.header else "")
        colour, end = (GREEN, RESET) if style.colours else ("", "")
        text = f"{head}{colour}{clock} {logger} {level}: {message}{end}"
        self.lines += text.split("\n")
        return self

    def announce(self, step: int, total: int = 100, per_epoch: int = 10) -> ArealLog:
        """The line that says that training step `step`, from 0, is done."""
        epoch, within = divmod(step, per_epoch)
        return self.record(
            f"Epoch {epoch + 1}/{total // per_epoch} Step {within + 1}/{per_epoch} "
            f"Train step {step + 1}/{total} done."
        )

    def stats(self, values: Mapping[str, str], number: int = 1, of: int = 1) -> ArealLog:
        """One table of the announced step."""
        self.record(f"Stats ({number}/{of}):")
        return self.record("\n" + "\n".join(table_lines(values, bar=self.style.bar)))

    def step(self, step: int, *tables: Mapping[str, str], total: int = 100) -> ArealLog:
        """A step and all of its tables."""
        self.announce(step, total)
        for number, values in enumerate(tables, 1):
            self.stats(values, number, len(tables))
        return self

    def drop_last(self, lines: int) -> ArealLog:
        """The last lines never reached the file."""
        del self.lines[-lines:]
        return self

    def text(self) -> bytes:
        """The file's bytes."""
        outer, newline = self.style.outer, self.style.newline
        return "".join(f"{outer}{line}{newline}" for line in self.lines).encode()


def five(**values: float) -> dict[str, str]:
    """Values printed with five digits, `__` standing for `/`."""
    return {name.replace("__", "/"): f"{value:.4e}" for name, value in values.items()}


def numbered(names: Sequence[str], start: float) -> dict[str, str]:
    """As many values as names, counting up."""
    return {name: f"{start + index:.4e}" for index, name in enumerate(names)}
