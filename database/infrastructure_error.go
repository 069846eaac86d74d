package database

import (
	"errors"

	"github.com/lib/pq"
	"modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

// IsInfrastructureError tells whether the database refused a statement for a reason that has nothing to do with
// the values in it: a missing table, a deadlock, no memory. Other values would have fared no better.
func IsInfrastructureError(err error) bool {
	if refusal, ok := errors.AsType[*pq.Error](err); ok {
		switch refusal.Code.Class() {
		case "22", "23", "P0": // data exception, constraint violation, raised by a trigger
			return false
		}
		return true
	}
	if refusal, ok := errors.AsType[*sqlite.Error](err); ok {
		switch refusal.Code() & 0xff {
		case sqlitecode.SQLITE_CONSTRAINT, sqlitecode.SQLITE_MISMATCH, sqlitecode.SQLITE_TOOBIG:
			return false
		}
		return true
	}
	return false
}
