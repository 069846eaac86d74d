// Package record has the commands about the record: history, log, reports, import, export, verification and proofs.
package record
