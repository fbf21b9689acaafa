"""The wheel alone, in an environment of its own and far from the checkout, writes a postmortem."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


def run(*command: str | Path, cwd: Path) -> str:
    """Its standard output; the test fails with its words where it does not exit with 0."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", folder)
    run(sys.executable, *build, cwd=repository)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """An environment that holds the wheel, and sees this one's packages but not the checkout."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    (site,) = folder.glob("lib/python*/site-packages")
    # A line in a .pth file adds a folder without that folder's own .pth files: the development
    # install of the checkout stays out of sight.
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(paths)), "utf-8")
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder.parent)
    return folder


def test_the_wheel_brings_its_rules_and_templates(installed: Path, tmp_path: Path) -> None:
    script = "from analyzer.resources import *; print(rules_dir(), templates_dir(), sep='\\n')"
    for line in run(installed / "bin" / "python", "-c", script, cwd=tmp_path).split():
        folder = Path(line)
        assert folder.is_relative_to(installed)
        assert any(folder.iterdir())


def test_a_report_outside_the_checkout(installed: Path, sample_logs: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_logs / "length_truncation", tmp_path / "my run")
    run(installed / "bin" / "analyzer", "report", "my run", cwd=tmp_path)

    written = {p.suffix: p for p in tmp_path.glob("reports/*/postmortem.*")}
    assert set(written) - {".pdf"} == {".html", ".json", ".md"}
    assert (".pdf" in written) == can_draw_pdf()
    assert "length-driven-truncation" in written[".json"].read_text("utf-8")


def can_draw_pdf() -> bool:
    """Whether this machine has Pango."""
    return subprocess.run([sys.executable, "-c", "import weasyprint"], check=False).returncode == 0
