#!/usr/bin/env bash
# Chromium for the tests of the console: found or installed. The tests start and end it themselves.
set -euo pipefail

usage() {
	cat <<'HELP'
usage: scripts/browser.sh COMMAND

  install   make sure Chrome or Chromium is there; says what it installs
  path      print its executable: export ANNALS_TEST_BROWSER="$(scripts/browser.sh path)"

environment
  ANNALS_BROWSER   executable to use, instead of the first one found
HELP
}

otherwise="install Chrome or Chromium and set ANNALS_BROWSER to its executable"

say() { printf 'browser.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

# shellcheck source=scripts/apt.sh
. "$(dirname "$0")/apt.sh"

# browser prints the executable, and fails if there is none. The headless shell needs the least time and memory.
browser() {
	local name
	if [ -n "${ANNALS_BROWSER:-}" ]; then
		command -v "$ANNALS_BROWSER" || die "ANNALS_BROWSER is $ANNALS_BROWSER, which is no executable: correct or unset it"
		return
	fi
	for name in chromium-headless-shell google-chrome chromium chromium-browser \
		'/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
		if command -v "$name"; then return; fi
	done
	return 1
}

path() { browser || die "there is no Chrome or Chromium: run 'scripts/browser.sh install', or $otherwise"; }

install() {
	if browser >/dev/null; then return; fi
	command -v apt-get >/dev/null || die "Chromium is missing and there is no apt-get to install it: $otherwise"
	apt_update Chromium browser.sh
	apt_install chromium-headless-shell
	say "$(path) is ready"
}

case ${1:-} in
install | path) "$1" ;;
-h | --help | help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
