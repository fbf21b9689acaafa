"""Tests beside rules: synthetic series in, complete findings expected."""

from analyzer.rulebook.testing.cases import Case, Expected, TestFile, load_tests
from analyzer.rulebook.testing.mutation import Survivor, survivors
from analyzer.rulebook.testing.runner import Failure, Result, run_tests

__all__ = [
    "Case",
    "Expected",
    "Failure",
    "Result",
    "Survivor",
    "TestFile",
    "load_tests",
    "run_tests",
    "survivors",
]
