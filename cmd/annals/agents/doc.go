// Package agents connects coding agents with Annals: it edits the settings of their programs, and is what their hooks
// call.
package agents
