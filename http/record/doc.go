// Package record registers the operations on the log: events, histories, moments, proofs and exports.
package record
