// Package http lets others ask. It is imported as annalshttp, beside net/http.
//
// Its one rule: a handler binds, calls and answers. What may happen is decided in package
// domain; which status an error becomes is decided by the one table in problem.go; what a body
// looks like is the struct with json tags that both the decoder and /openapi.yaml are made of.
// Everything of Echo and huma stays here.
package http
