// Command sbom writes a CycloneDX document of a program: every module that it was built from, with version, checksum
// and licence. It reads the program and the module cache, and uses no network.
//
//	go run ./scripts/sbom bin/annals > bin/annals.cdx.json
package main
