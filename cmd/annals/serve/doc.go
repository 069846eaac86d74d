// Package serve runs the server: its settings, and the wiring of the log, the projections and the API.
//
// Its one rule: it wires packages and decides nothing.
package serve
