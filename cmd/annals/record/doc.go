// Package record has the commands about the log: history, log, reports, import, export, verification and proofs.
package record
