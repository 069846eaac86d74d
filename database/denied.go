package database

import (
	"errors"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Denied is what PostgreSQL says of a privilege that the role lacks which asks it, such as "permission denied for table
// events"; empty if err says nothing of that.
func Denied(err error) string {
	if refusal, ok := errors.AsType[*pq.Error](err); ok && refusal.Code == pqerror.InsufficientPrivilege {
		return refusal.Message
	}
	return ""
}
