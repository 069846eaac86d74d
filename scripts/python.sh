#!/usr/bin/env bash
# Python for the test of the evidence, which an auditor verifies with nothing else: found or installed.
#
#   scripts/python.sh install
set -euo pipefail

otherwise="install Python 3 as python3"

say() { printf 'python.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

if command -v python3 >/dev/null; then exit; fi
command -v apt-get >/dev/null || die "python3 is missing and there is no apt-get to install it: $otherwise"
apt_update python3 python.sh
apt_install python3
say "$(command -v python3) is ready"
