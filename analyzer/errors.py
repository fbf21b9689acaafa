"""Errors that a person can act on, and the exit codes other programs rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """Process exit codes (docs/contracts.md)."""

    JUDGED = 0
    FINDINGS = 1
    CANNOT_JUDGE = 2
    RULES_WRONG = 3
    DEFECT = 70


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; line and column count from 1."""

    path: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.path]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class AnalyzerError(Exception):
    """What is wrong, where, and what to do: prints as `path:line: message (hint)`."""

    exit_code: ExitCode = ExitCode.CANNOT_JUDGE

    def __init__(self, message: str, *, at: Location | None = None, hint: str = "") -> None:
        self.message = message
        self.at = at
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.at}: " if self.at else ""
        remedy = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.message}{remedy}"


class RunError(AnalyzerError):
    """The run cannot be read or judged."""


class SeveralRuns(RunError):
    """A place holds more than one run: each is to be given by itself."""


class UsageError(AnalyzerError):
    """The command line asks for something that does not exist."""


class RuleError(AnalyzerError):
    """A rule, metric or test file is wrong."""

    exit_code = ExitCode.RULES_WRONG


class RuleErrors(RuleError):
    """Every fault of every rule file at once, one line each."""

    def __init__(self, errors: Iterable[RuleError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))
