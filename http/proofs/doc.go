// Package proofs registers the operations that prove the log: its key, checkpoints, proofs and exports.
package proofs
