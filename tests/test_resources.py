from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import resources
from analyzer.errors import AnalyzerError, ExitCode


def test_a_checkout_reads_its_own_rules_and_templates(repository: Path) -> None:
    assert resources.rules_dir() == repository / "rules"
    assert resources.templates_dir() == repository / "templates"


def test_the_installed_copy_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "analyzer"
    for folder in (package / "_data" / "rules", package.parent / "rules"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(resources, "PACKAGE", package)

    assert resources.rules_dir() == package / "_data" / "rules"


def test_a_damaged_installation_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "analyzer")

    with pytest.raises(AnalyzerError, match=r"templates/ is missing .*pip install") as raised:
        resources.templates_dir()
    assert raised.value.exit_code == ExitCode.CANNOT_JUDGE
