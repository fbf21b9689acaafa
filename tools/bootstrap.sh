#!/bin/sh
# Gets this checkout ready: Python packages into .venv, and what the PDF needs from the system.
#
#   sh tools/bootstrap.sh report    what `make report` needs
#   sh tools/bootstrap.sh dev       that, and what the tests and linters need
#
# Nothing happens where nothing changed. System packages are installed only where they are missing
# and this user may: as root, by sudo without a password, or by Homebrew. Otherwise the line to type
# is printed, and the rest goes on. PYTHON=... names the Python to use.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

level=${1:-report}
log=.setup.log

say() {
    printf '%s\n' "$*" >&2
}

fail() {
    say "setup: $*"
    exit 1
}

# What an installation depends on. The path counts too: scripts in .venv hold it.
state() {
    { pwd && cat pyproject.toml constraints.txt tools/bootstrap.sh; } | cksum
}

is_ready() {
    [ -x .venv/bin/python ] || return 1
    for stamp in .venv/ready-dev ".venv/ready-$level"; do
        if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$1" ]; then
            return 0
        fi
    done
    return 1
}

find_python() {
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    has=$(python3 -V 2>/dev/null || echo "no python3")
    fail "Python 3.11 or newer is needed, here is $has; install it, or name it: make report PYTHON=/path/to/python3.12"
}

package_manager() {
    for manager in apt-get dnf apk pacman brew; do
        if command -v "$manager" >/dev/null 2>&1; then
            printf '%s\n' "$manager"
            return
        fi
    done
}

# The packages that bring what is missing: $1 is the package manager, the others are words
# of tools/missing_for_pdf.py, or python3.11-venv.
packages_for() {
    manager=$1
    shift
    for need in "$@"; do
        case $manager:$need in
        apt-get:*-venv) echo "$need" ;;
        apt-get:pango) echo "libpango-1.0-0 libpangoft2-1.0-0" ;;
        apt-get:harfbuzz-subset) echo libharfbuzz-subset0 ;;
        apt-get:cjk-font) echo fonts-droid-fallback ;;
        dnf:pango | pacman:pango | apk:pango | brew:pango) echo pango ;;
        dnf:harfbuzz-subset | pacman:harfbuzz-subset | brew:harfbuzz-subset) echo harfbuzz ;;
        dnf:cjk-font) echo "font(:lang=zh-cn)" ;;
        apk:harfbuzz-subset) echo so:libharfbuzz-subset.so.0 ;;
        apk:cjk-font) echo font-noto-cjk ;;
        pacman:cjk-font) echo noto-fonts-cjk ;;
        esac
    done | tr '\n' ' ' | sed 's/ $//'
}

install_line() {
    case $1 in
    apt-get) echo "apt-get install -y --no-install-recommends" ;;
    dnf) echo "dnf install -y" ;;
    apk) echo "apk add" ;;
    pacman) echo "pacman -S --needed --noconfirm" ;;
    brew) echo "brew install" ;;
    esac
}

# How this user becomes root: "" as root or for Homebrew, "sudo -n"; fails where there is no way.
become_root() {
    if [ "$1" = brew ] || [ "$(id -u)" = 0 ]; then
        echo ""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        echo "sudo -n"
    else
        return 1
    fi
}

run_install() { # $1 package manager, $2 "" or sudo -n, $3 packages
    options=
    if [ "$1" = apt-get ]; then
        options="-o DPkg::Lock::Timeout=300"
    fi
    # The words of $2 and of the lines are meant to be split.
    # shellcheck disable=SC2046,SC2086
    $2 env DEBIAN_FRONTEND=noninteractive $(install_line "$1") $options $3 >>"$log" 2>&1 </dev/null
}

# Installs the packages for the words given; where that fails, prints the line to type and fails.
install_system() {
    manager=$(package_manager)
    if [ -z "$manager" ]; then
        say "setup: no package manager that is known here; missing: $*"
        return 1
    fi
    packages=$(packages_for "$manager" "$@")
    if [ -z "$packages" ]; then
        say "setup: missing: $* (no $manager package is known for it)"
        return 1
    fi
    if root=$(become_root "$manager"); then
        say "Installing with $manager: $packages"
        if run_install "$manager" "$root" "$packages"; then
            return 0
        fi
        # Package lists are absent in a fresh container, and go stale elsewhere.
        # shellcheck disable=SC2086
        if [ "$manager" = apt-get ] && $root apt-get update >>"$log" 2>&1 &&
            run_install "$manager" "$root" "$packages"; then
            return 0
        fi
        say "setup: $manager could not install: $packages (its words are in $log)"
    fi
    say "Missing here: $*. To install, type:"
    line="$(install_line "$manager") $packages"
    if [ "$manager" != brew ]; then
        line="sudo $line"
    fi
    say "    $(printf '%s' "$line" | sed "s/font(:lang=zh-cn)/'&'/")"
    return 1
}

has_venv() { # $1 Python; Debian has ensurepip in a package of its own
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

install_what_is_missing() { # $1 Python
    missing=$("$1" tools/missing_for_pdf.py)
    if ! [ -x .venv/bin/python ] && ! has_venv "$1"; then
        version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        missing="python$version-venv $missing"
    fi
    # shellcheck disable=SC2086
    if [ -n "$missing" ] && ! install_system $missing; then
        case $missing in
        *-venv*) fail "Python makes no environment without its venv: install that, then run make again" ;;
        *pango* | *harfbuzz-subset*)
            say "Until then reports have no PDF; HTML, JSON and Markdown are written." ;;
        *) say "Until then Chinese text in a PDF may lack its characters." ;;
        esac
    fi
}

make_environment() { # $1 Python
    if [ -f .venv/made-in ] && [ "$(cat .venv/made-in)" = "$(pwd)" ] &&
        .venv/bin/python -m pip --version >/dev/null 2>&1; then
        return
    fi
    "$1" -m venv --clear .venv >>"$log" 2>&1 ||
        fail "$1 -m venv .venv did not work: $(tail -n 1 "$log")"
    pwd >.venv/made-in
}

first_error() {
    if grep -qE 'NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError' "$log"; then
        echo "the package index cannot be reached"
    else
        grep -E '^ *(ERROR|[A-Za-z.]*Error): ' "$log" | sed -e 's/^ *//' -e 1q
    fi
}

pip_install() {
    .venv/bin/python -m pip --disable-pip-version-check --no-input install \
        -c constraints.txt "$@" >>"$log" 2>&1 </dev/null ||
        fail "pip could not install the packages: $(first_error) (all of it is in $log)"
}

install_packages() {
    what=.
    if [ "$level" = dev ]; then
        what=".[dev]"
    fi
    say "Installing Python packages into .venv (on first use, and when the pins change)"
    pip_install hatchling
    pip_install --no-build-isolation --editable "$what"
}

case $level in
report | dev) ;;
*) fail "say what to get ready: report or dev" ;;
esac

now=$(state)
if is_ready "$now"; then
    exit 0
fi
: >"$log"
python=$(find_python)
install_what_is_missing "$python"
make_environment "$python"
install_packages
printf '%s\n' "$now" >".venv/ready-$level"
