#!/bin/sh
# After an installation or an upgrade. A new service is not started: its operator has settings to write first.
set -eu
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# Debian says what was there before; RPM says how many versions there are now.
if [ "${1:-}" = configure ] && [ -n "${2:-}" ] || [ "${1:-}" = 2 ]; then
	systemctl try-restart annals.service
else
	echo "Write /etc/annals/annals.env, then run: systemctl enable --now annals"
fi
