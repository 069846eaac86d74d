// Package api declares the JSON of the HTTP API once: what requests and answers hold, and the codes of problems.
//
// Its one rule: it holds shapes and no behaviour. Package http documents and decodes them strictly, package client
// sends and reads them. A pointer is a field that may be missing, where the zero value has another meaning.
package api
