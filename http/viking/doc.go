// Package viking implements the API of OpenViking: agents that use an OpenViking server can use Annals instead. Every
// change that they make is a fact in the log.
//
// Its one rule: it translates. A route turns a request into commands and queries of the domain, and their answers
// into OpenViking's JSON. Package domain makes the decisions. The server that mounts this package authenticates the
// caller.
package viking
