package events

import "sync"

// lastErrors are the reasons why projections stand still, by projection and tenant.
type lastErrors struct {
	mu      sync.Mutex
	reasons map[reading]error
}

type reading struct{ projection, tenant string }

// LastError is why a projection of this process does not get on with a tenant's log; nil while it does.
// It matches [ErrRestored] or [ErrHole] if it has halted for good, and otherwise it goes on trying.
func (l *Log) LastError(projection, tenant string) error {
	l.lastErrors.mu.Lock()
	defer l.lastErrors.mu.Unlock()
	return l.lastErrors.reasons[reading{projection, tenant}]
}

// note replaces the reason, with nil for none, and tells whether it is another one than before.
func (t *lastErrors) note(projection, tenant string, reason error) (isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := reading{projection, tenant}
	before := t.reasons[key]
	if reason == nil {
		delete(t.reasons, key)
		return before != nil
	}
	t.reasons[key] = reason
	return before == nil || before.Error() != reason.Error()
}
