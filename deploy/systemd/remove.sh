#!/bin/sh
# Before a removal, but not before an upgrade. The data stays in /var/lib/annals.
set -eu
[ -d /run/systemd/system ] || exit 0
case "${1:-}" in remove | 0) systemctl disable --now annals.service || true ;; esac
