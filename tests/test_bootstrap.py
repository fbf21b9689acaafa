"""The bootstrap script on machines that lack things, each made of stand-ins for system commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = (
    "sh",
    "dirname",
    "cat",
    "cksum",
    "env",
    "grep",
    "sed",
    "tail",
    "tr",
    "mkdir",
    "cp",
    "chmod",
)

# Answers as a Python that can make environments; missing_for_pdf.py names what $LACKS holds.
PYTHON = """#!/bin/sh
echo "python $*" >>"$CALLS"
case "$*" in
*missing_for_pdf.py) [ -f "$INSTALLED" ] || printf '%s' "$LACKS" ;;
*version_info\\[:2\\]*) echo 3.12 ;;
"-c import ensurepip"*) exit "${VENV_MISSING:-0}" ;;
"-m venv --clear .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*"pip "*install*) exit "${PIP_FAILS:-0}" ;;
esac
"""
OLD_PYTHON = """#!/bin/sh
[ "$1" = -V ] && echo Python 3.9.2 && exit
exit 1
"""
APT = '#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n: >"$INSTALLED"\n'


class Machine:
    """A folder of commands, and a checkout to run the script in."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        (self.checkout / "tools").mkdir(parents=True)
        (folder / "bin").mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            assert found
            (folder / "bin" / name).symlink_to(found)
        for name in ("pyproject.toml", "constraints.txt", "tools/bootstrap.sh"):
            shutil.copy(repository / name, self.checkout / name)
        self.add("python3", PYTHON)
        self.user(1000)

    def add(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(script, "utf-8")
        path.chmod(0o755)

    def user(self, number: int) -> None:
        self.add("id", f"#!/bin/sh\necho {number}\n")

    def bootstrap(self, level: str = "report", **environment: str) -> tuple[int, str]:
        """Exit code and messages."""
        done = subprocess.run(
            ["sh", "tools/bootstrap.sh", level],
            cwd=self.checkout,
            env={
                "PATH": str(self.folder / "bin"),
                "CALLS": str(self.folder / "calls"),
                "INSTALLED": str(self.folder / "installed"),
                "LACKS": "",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    @property
    def calls(self) -> str:
        path = self.folder / "calls"
        return path.read_text("utf-8") if path.exists() else ""


@pytest.fixture
def machine(tmp_path: Path, repository: Path) -> Machine:
    return Machine(tmp_path, repository)


def test_second_time_nothing_runs(machine: Machine) -> None:
    assert machine.bootstrap() == (
        0,
        "Installing Python packages into .venv (on first use, and when the pins change)\n",
    )
    before = machine.calls
    assert "install -c constraints.txt --no-build-isolation --editable .\n" in before
    assert machine.bootstrap() == (0, "")
    assert machine.calls == before


def test_changed_pins_install_again(machine: Machine) -> None:
    machine.bootstrap()
    with (machine.checkout / "constraints.txt").open("a") as pins:
        pins.write("# another\n")
    code, messages = machine.bootstrap()
    assert code == 0
    assert "Installing Python packages" in messages


def test_what_the_tests_need_covers_what_a_report_needs(machine: Machine) -> None:
    machine.bootstrap("dev")
    assert "--editable .[dev]\n" in machine.calls
    assert machine.bootstrap("report") == (0, "")


def test_a_user_is_told_one_line_and_goes_on_without_the_pdf(machine: Machine) -> None:
    machine.add("apt-get", APT)
    code, messages = machine.bootstrap(LACKS="pango\nharfbuzz-subset\ncjk-font")
    assert code == 0
    assert (
        "\n    sudo apt-get install -y --no-install-recommends libpango-1.0-0 "
        "libpangoft2-1.0-0 libharfbuzz-subset0 fonts-droid-fallback\n"
    ) in messages
    assert "no PDF; HTML, JSON and Markdown are written" in messages
    assert "apt-get" not in machine.calls


def test_root_installs_and_says_what(machine: Machine) -> None:
    machine.add("apt-get", APT)
    machine.user(0)
    code, messages = machine.bootstrap(LACKS="pango")
    assert code == 0
    assert "Installing with apt-get: libpango-1.0-0 libpangoft2-1.0-0\n" in messages
    assert "Missing" not in messages
    assert machine.calls.count("apt-get ") == 1


def test_sudo_without_a_password_is_used(machine: Machine) -> None:
    machine.add("apt-get", APT)
    machine.add("sudo", '#!/bin/sh\nshift\n[ "$1" = true ] || "$@"\n')
    code, messages = machine.bootstrap(LACKS="cjk-font")
    assert code == 0
    assert "Installing with apt-get: fonts-droid-fallback\n" in messages
    assert "install -y --no-install-recommends" in machine.calls


def test_other_package_managers_have_their_own_line(machine: Machine) -> None:
    machine.add("dnf", "#!/bin/sh\n")
    _, messages = machine.bootstrap(LACKS="pango\ncjk-font")
    assert "\n    sudo dnf install -y pango 'font(:lang=zh-cn)'\n" in messages


def test_a_debian_without_venv_is_told_its_package(machine: Machine) -> None:
    machine.add("apt-get", APT)
    code, messages = machine.bootstrap(VENV_MISSING="1")
    assert code == 1
    assert "sudo apt-get install -y --no-install-recommends python3.12-venv\n" in messages


def test_an_old_python_is_named(machine: Machine) -> None:
    machine.add("python3", OLD_PYTHON)
    code, messages = machine.bootstrap()
    assert code == 1
    (line,) = messages.splitlines()
    assert line.startswith("setup: Python 3.11 or newer is needed, here is Python 3.9.2;")


def test_a_failed_installation_is_one_line_and_is_tried_again(machine: Machine) -> None:
    code, messages = machine.bootstrap(PIP_FAILS="1")
    assert code == 1
    assert messages.splitlines()[-1].startswith("setup: pip could not install the packages: ")
    assert machine.bootstrap()[0] == 0
