// Package viking speaks OpenViking: agents that know an OpenViking server point at Annals instead and keep
// working, and everything they do is a fact in the log.
//
// Its one rule: it translates. A route turns a request into the domain's commands and questions and their
// answers into OpenViking's shapes; what may happen is decided in package domain, and the caller was
// identified by the server that this surface is mounted in.
package viking
