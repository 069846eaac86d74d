#!/usr/bin/env bash
# Builds what a release consists of, below dist:
#   deploy/release.sh            builds it all
#   deploy/release.sh compare    builds it twice, the second time from a clone and without a cache, and compares the bytes
#   deploy/release.sh publish    builds it and publishes a draft, in the workflow of a tag
#   deploy/release.sh packages   looks into the packages of dist, and starts the service of the one for this machine
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'release.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}
# shellcheck disable=SC2034 # read by apt.sh
otherwise="install them by hand"
# shellcheck source=scripts/apt.sh
. scripts/apt.sh

project=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
goreleaser=v2.15.1

tools() {
	PATH=$project/.tools:$PATH
	if [ "$(goreleaser --version 2>/dev/null | sed -n 's/^GitVersion: *//p')" != "$goreleaser" ]; then
		say "building goreleaser $goreleaser, once"
		GOFLAGS='' GOBIN=$project/.tools CGO_ENABLED=0 go install "github.com/goreleaser/goreleaser/v2@$goreleaser"
	fi
	CGO_ENABLED=0 go build -C scripts/tools -o "$project/.tools/cyclonedx-gomod" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
}

snapshot() { goreleaser release --snapshot --clean --skip=docker,sign,homebrew; }

compare() {
	snapshot
	git clone --quiet "$project" "$work/clone"
	(cd "$work/clone" && GOCACHE=$work/cache snapshot)
	chmod -R u+w "$work/cache"
	diff -u dist/checksums.txt "$work/clone/dist/checksums.txt" || die "two builds of the same commit differ"
	say "two builds have the same bytes: $(wc -l <dist/checksums.txt) files"
}

packages() {
	command -v rpm >/dev/null || { apt_update rpm release.sh && apt_install rpm; }
	local deb root=$work/root files='/usr/bin/annals /usr/lib/systemd/system/annals.service /etc/annals/annals.env /usr/share/doc/annals/copyright'
	for arch in amd64 arm64; do
		for file in $files; do
			dpkg-deb --fsys-tarfile dist/*_"$arch".deb | tar -tf - ".$file" >/dev/null || die "the deb for $arch lacks $file"
			rpm -qlp dist/*_"$arch".rpm | grep -qx "$file" || die "the rpm for $arch lacks $file"
		done
	done
	deb=$(echo dist/*_"$(dpkg --print-architecture)".deb)
	dpkg-deb -x "$deb" "$root"
	cp "$root/usr/lib/systemd/system/annals.service" "$work/annals.service"
	sed -i "s|ExecStart=/usr/bin/annals|ExecStart=$root/usr/bin/annals|" "$work/annals.service"
	systemd-analyze verify "$work/annals.service"
	systemd-analyze security --offline=yes --threshold=20 "$work/annals.service" | tail -1
	started "$deb"
}

# started installs the package where systemd runs, which containers seldom do, and asks the service whether it is alive.
started() {
	if ! [ -d /run/systemd/system ]; then
		say "the service was not started: systemd does not run here"
		return
	fi
	as_root dpkg -i "$1"
	as_root systemctl start annals
	annals doctor --alive
	as_root systemctl stop annals
	as_root dpkg -r annals
}

case "${1:-snapshot}" in
snapshot) tools && snapshot ;;
compare) tools && compare ;;
publish) tools && goreleaser release --clean ;;
packages) packages ;;
*) die "unknown: $1: say snapshot, compare, publish or packages" ;;
esac
