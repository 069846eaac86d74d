#!/usr/bin/env bash
# Deletes parts from a copy of the tree, and tells whether everything else still compiles:
#
#   scripts/without.sh PART…   deletes these parts together
#   scripts/without.sh         deletes each part alone, one after the other
#
# A part consists of the paths below, and of the lines elsewhere that end with "// part: NAME".
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:--trimpath}" # what the copies share is compiled once

# paths prints what a part owns.
paths() {
	case $1 in
	scim) echo http/scim cmd/annals/serve/scim.go ;;
	nats) echo events/forward cmd/annals/serve/nats.go ;;
	oidc) echo http/oidc cmd/annals/serve/oidc.go http/console/provider_test.go ;;
	mcp) echo http/mcp cmd/annals/serve/mcp.go ;;
	console) echo http/console cmd/annals/serve/console*.go ;;
	viking) echo http/viking cmd/annals/serve/viking.go http/mcp/viking_test.go ;;
	backup) echo cmd/annals/backup cmd/annals/serve/backup.go cmd/annals/operate/backup.go cmd/annals/operate/restore_backup.go ;;
	telemetry) echo cmd/annals/telemetry cmd/annals/serve/telemetry.go cmd/annals/telemetry_test.go ;;
	quotas) echo projections/quotas cmd/annals/serve/quotas.go ;;
	webhooks) echo projections/subscriptions http/subscriptions cmd/annals/serve/webhooks.go http/console/subscriptions_test.go \
		cmd/annals/record/subscription.go cmd/annals/testdata/engines/subscriptions.txtar ;;
	extraction) echo projections/extraction cmd/annals/serve/extraction.go http/*/extraction_test.go http/sessions/lesson_test.go http/viking/session_retry_test.go projections/review/judge_test.go ;;
	proofs) echo events/proof http/proofs cmd/annals/serve/proofs.go cmd/annals/backup/verify.go cmd/annals/record/proof.go cmd/annals/record/verify.go \
		http/servertest/prover.go http/viking/proof_test.go http/console/proof_*test.go http/receipts/*_test.go ;;
	receipts) echo projections/receipts http/receipts http/api/receipt.go cmd/annals/serve/receipts.go cmd/annals/record/receipt.go \
		cmd/annals/record/evidence.go http/console/receipts*.go http/console/views/receipt*.html http/console/assets/receipt_page.js \
		http/console/incident_test.go \
		cmd/annals/testdata/engines/receipts.txtar ;;
	policies) echo projections/policies cmd/annals/serve/policies.go http/operate/policies*.go \
		http/console/policies_test.go cmd/annals/operate/policy.go \
		cmd/annals/testdata/engines/verification.txtar ;;
	standby) echo http/standby cmd/annals/serve/standby*.go cmd/annals/standby_test.go ;;
	foreign) echo cmd/annals/foreign ;;
	agents) echo cmd/annals/agents ;;
	contain) echo projections/contain http/contain cmd/annals/serve/contain.go cmd/annals/operate/contain.go \
		http/console/contain*.go http/console/views/contain*.html http/console/incident_test.go \
		cmd/annals/testdata/engines/contain.txtar ;;
	documents) echo http/document cmd/annals/serve/documents.go http/viking/document_test.go ;;
	*) echo "without.sh: there is no part $1" >&2; return 2 ;;
	esac
}
all="scim nats oidc mcp console viking backup telemetry quotas webhooks policies proofs agents foreign documents extraction receipts contain standby"

# without deletes parts from a copy, and vets the rest.
without() {
	local copy part owned=
	copy=$(mktemp -d)
	git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done | tar --null -T - -cf - | tar -xf - -C "$copy"
	for part in "$@"; do
		owned="$owned $(set -f; paths "$part")"
	done
	# shellcheck disable=SC2086 # the paths have no spaces; a file can be of two parts, and must be there
	(cd "$copy" && ls -d $owned >/dev/null && rm -rf $owned) || { rm -r "$copy"; return 1; }
	for part in "$@"; do
		find "$copy" -name '*.go' -exec sed -i -E "\\|// part: $part\$|d" {} +
	done
	local status=0
	(cd "$copy" && go vet ./cmd/... ./http/... ./projections/...) || status=1
	rm -r "$copy"
	return "$status"
}

if [ $# -gt 0 ]; then
	without "$@"
	exit
fi
failed=
for part in $all; do
	if without "$part"; then
		echo "without.sh: $part: ok" >&2
	else
		echo "without.sh: $part: FAILED" >&2
		failed="$failed $part"
	fi
done
[ -z "$failed" ] || { echo "without.sh: these cannot be deleted:$failed" >&2; exit 1; }
