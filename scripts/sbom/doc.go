// Command sbom states what a built program consists of, as CycloneDX: every module that is in it, by version, checksum
// and licence. It asks the program and the module cache, and no network.
//
//	go run ./scripts/sbom bin/annals > bin/annals.cdx.json
package main
