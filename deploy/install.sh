#!/bin/sh
# Installs annals from its newest release, or from the one that ANNALS_VERSION names (such as v1.2.3), to
# ANNALS_BIN (default: ~/.local/bin). It checks the sum of what it downloads, and its signature if cosign is installed.
set -eu

releases=${ANNALS_RELEASES:-https://github.com/annals-kb/annals/releases}
bin=${ANNALS_BIN:-$HOME/.local/bin}

die() {
	echo "install.sh: $*" >&2
	exit 1
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) die "there is no release for $(uname -s): on Windows, download the zip from $releases" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) die "there is no release for $(uname -m): build it with make build" ;;
esac
command -v curl >/dev/null || die "curl is not installed"

version=${ANNALS_VERSION:-$(curl -fsSI "$releases/latest" | tr -d '\r' | sed -n 's|^[Ll]ocation: .*/tag/||p')}
[ -n "$version" ] || die "$releases/latest names no release: set ANNALS_VERSION"
file=annals_${version#v}_${os}_$arch.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for name in "$file" checksums.txt checksums.txt.sigstore.json; do
	curl -fsSLO "$releases/download/$version/$name" || die "$releases/download/$version/$name cannot be downloaded"
done
sum=$(awk -v file="$file" '$2 == file { print $1 }' checksums.txt)
got=$( (sha256sum "$file" 2>/dev/null || shasum -a 256 "$file") | cut -d ' ' -f 1)
[ "${sum:-none}" = "$got" ] || die "$file has the sum $got, and checksums.txt says ${sum:-nothing}"
if command -v cosign >/dev/null; then
	cosign verify-blob --bundle checksums.txt.sigstore.json \
		--certificate-identity "https://github.com/annals-kb/annals/.github/workflows/release.yml@refs/tags/$version" \
		--certificate-oidc-issuer https://token.actions.githubusercontent.com checksums.txt >/dev/null
fi
tar -xzf "$file" annals
mkdir -p "$bin"
mv annals "$bin/annals"
echo "$("$bin/annals" version | head -1) is in $bin"
case ":$PATH:" in *":$bin:"*) ;; *) echo "Add $bin to PATH." ;; esac
