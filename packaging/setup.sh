#!/usr/bin/env bash
# Make a local Python environment with everything rcv needs, and name or install the system libraries
# that Qt lacks.  Usage: setup.sh run|test.  Does nothing when it has been done for this pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-run}
python=${PYTHON:-}
venv=${VENV:-.venv}

say() { printf 'rcv: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

as_root() { # install Debian packages if we may; return 1 if not
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "installing $*"
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return 0
    apt-get update -qq >/dev/null 2>&1 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

is_whole() { # whether an interpreter is one program, and not in a shared library: there everything takes a fifth longer
    "$1" -c 'import ensurepip, sys, venv
sys.exit(sys.version_info < (3, 11) or "/libpython" in open("/proc/self/maps").read())' 2>/dev/null
}
if [ -z "$python" ]; then
    python=python3
    if [ ! -x "$venv/bin/python" ] && ! is_whole python3 && is_whole /usr/bin/python3; then
        python=/usr/bin/python3
        say "taking $python, which is a fifth faster than $(command -v python3); PYTHON=… chooses"
    fi
fi

command -v "$python" >/dev/null || die "Python 3.11 or later is needed, and '$python' is not there. Install it (Debian: apt-get install python3)."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
    || die "Python 3.11 or later is needed; '$python' is $("$python" -V 2>&1). Set PYTHON=… to a newer one."

stamp=$venv/.rcv-$what-$(cat pyproject.toml packaging/setup.sh | cksum | tr -d ' ')
if [ ! -e "$stamp" ]; then
    if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        say "making $venv"
        rm -rf "$venv"
        if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
            rm -rf "$venv"
            as_root python3-venv || die "Python's venv module is not complete. Run: sudo apt-get install python3-venv"
            "$python" -m venv "$venv" || die "Python could not make the environment $venv."
        fi
    fi
    say "installing Python packages (once)"
    packages() { "$venv/bin/python" -m pip install -q --disable-pip-version-check -e "$1"; }
    if [ "$what" = test ]; then
        packages '.[window,test]' || die "The packages could not be installed. Check the network, then run this again."
    elif ! packages '.[window,fast]'; then # there may be no compiler for a Python as new as this one
        say "trying without what compiles: raw captures open slowly then"
        packages '.[window]' || die "The packages could not be installed. Check the network, then run this again."
    fi
    missing=$("$venv/bin/python" packaging/system_libs.py)
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086 - a list of package names
        as_root $missing || die "Qt needs system libraries. Run: sudo apt-get install $(echo $missing)"
        missing=$("$venv/bin/python" packaging/system_libs.py)
        [ -z "$missing" ] || say "still missing after the installation: $(echo $missing)"
    fi
    if "$venv/bin/rcv" --version | grep -q '^disassembler none'; then # pip has none for this processor
        as_root libllvm22 || say "without libllvm22 the instructions of raw captures are numbers"
    fi
    if [ "$what" = run ]; then # the machine code that it makes is kept: no capture waits for it
        "$venv/bin/rcv" whatif sample_traces/matmul_tiled >/dev/null 2>&1 || true
    fi
    rm -f "$venv"/.rcv-"$what"-*
    : >"$stamp"
fi
