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
trap 'as_root rm -rf "$work"' EXIT
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
			[[ " $(rpm -qlp dist/*_"$arch".rpm | tr '\n' ' ') " = *" $file "* ]] || die "the rpm for $arch lacks $file"
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

# started installs the package in a Debian of its own, boots it, and lets it ask the service whether it is alive.
started() {
	if ! command -v systemd-nspawn >/dev/null || ! command -v debootstrap >/dev/null; then
		apt_update systemd-nspawn release.sh && apt_install systemd-container debootstrap
	fi
	local debian=$work/debian
	as_root debootstrap --variant=minbase --include=systemd,systemd-sysv,ca-certificates stable "$debian" >"$work/debootstrap.log" ||
		die "debootstrap failed: $(tail -1 "$work/debootstrap.log")"
	as_root cp "$1" "$debian/annals.deb"
	as_root tee "$debian/try.sh" >/dev/null <<-'EOT'
		#!/bin/sh
		dpkg -i /annals.deb && umask 077 && echo 0123456789abcdef0123456789abcdef >/etc/annals/credentials/ANNALS_ROOT_KEY &&
			systemctl enable --now annals && sleep 5 && annals doctor --alive &&
			ANNALS_KEY=0123456789abcdef0123456789abcdef annals remember "the service works" --type plan &&
			stat -c "%U %a %n" /var/lib/private/annals && systemctl is-active annals && dpkg -r annals && echo ended
		systemctl poweroff
	EOT
	as_root tee "$debian/etc/systemd/system/try.service" >/dev/null <<-'EOT'
		[Service]
		ExecStart=/bin/sh -c "sh -x /try.sh >/try.log 2>&1"
		[Install]
		WantedBy=multi-user.target
	EOT
	as_root ln -s /etc/systemd/system/try.service "$debian/etc/systemd/system/multi-user.target.wants/try.service"
	# Where no systemd runs, nspawn needs the hierarchy of the first version of control groups.
	if ! [ -d /run/systemd/system ] && ! [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		as_root mkdir -p /sys/fs/cgroup/systemd
		mountpoint -q /sys/fs/cgroup/systemd || as_root mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
	fi
	as_root timeout 180 systemd-nspawn -q --register=no --keep-unit -D "$debian" --boot </dev/null >"$work/boot.log" 2>&1 || true
	grep -qx ended "$debian/try.log" || die "the service did not start: $(cat "$debian/try.log" 2>/dev/null || tail -5 "$work/boot.log")"
	say "the package was installed, started, used and removed in a Debian that booted"
}

case "${1:-snapshot}" in
snapshot) tools && go run ./scripts/budget && snapshot ;;
compare) tools && compare ;;
publish) tools && go run ./scripts/budget && goreleaser release --clean ;;
packages) packages ;;
*) die "unknown: $1: say snapshot, compare, publish or packages" ;;
esac
