"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout's top folder."""
    return REPOSITORY


@pytest.fixture(scope="session")
def sample_logs(repository: Path) -> Path:
    """The folder of labelled sample runs."""
    return repository / "sample_logs"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of other people's logs, which is not part of this repository."""
    folder = os.environ.get("ANALYZER_CORPUS")
    if not folder:
        pytest.skip("ANALYZER_CORPUS is not set: it names the folder of other people's logs")
    return Path(folder)
