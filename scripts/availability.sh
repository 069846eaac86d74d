#!/usr/bin/env bash
# HAProxy and PgBouncer for make availability: found or installed. The tests start and end them themselves.
set -euo pipefail

usage() {
	cat <<'HELP'
usage: scripts/availability.sh install

  install   make sure haproxy and pgbouncer are there; says what it installs
HELP
}

# shellcheck disable=SC2034 # read by apt.sh
otherwise="install haproxy and pgbouncer"

say() { printf 'availability.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

# Debian has both in a directory that is not in the PATH of each user.
PATH=$PATH:/usr/sbin

install() {
	local name missing=()
	for name in haproxy pgbouncer; do
		command -v "$name" >/dev/null || missing+=("$name")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || die "${missing[*]} is missing and there is no apt-get to install it: $otherwise"
	apt_update "${missing[*]}" availability.sh
	apt_install "${missing[@]}"
}

case ${1:-} in
install) install ;;
-h | --help | help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
