// Package api declares the JSON of the HTTP API: requests, answers and the codes of problems.
//
// Its one rule: it contains shapes and how they are written, and no other behaviour. Package http documents and
// strictly decodes them; package client sends and reads them. A pointer is an optional field whose zero value has
// another meaning.
package api
