# shellcheck shell=bash disable=SC2154
# Packages of Debian and its relatives. A script reads this file after it has defined say, die, and in otherwise
# what to do on a machine where apt does not work.

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# quietly runs a command and shows its output only if it failed.
quietly() {
	local output
	output=$(mktemp)
	if "$@" </dev/null >"$output" 2>&1; then
		rm "$output"
	else
		tail -n 20 "$output" >&2
		rm "$output"
		return 1
	fi
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"; }

# apt_update is given the name of what is missing and the name of the script that installs it.
apt_update() {
	if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
		die "$1 is missing and apt needs root: run 'sudo scripts/$2 install', or $otherwise"
	fi
	say "reading the package lists (apt-get update)"
	quietly apt_get update || say "apt-get update had errors; going on with the lists that there are"
}

apt_install() {
	say "installing $* (apt-get)"
	quietly apt_get install -y --no-install-recommends -o Dpkg::Options::=--force-confold "$@" ||
		die "apt-get could not install $*: repair apt (apt-get -f install), or $otherwise"
}
