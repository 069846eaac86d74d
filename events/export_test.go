package events

// Tell tells whoever follows a tenant's log that it has grown, as polling does when it sees what was read meanwhile.
func (l *Log) Tell(tenant string) { l.appended.notify(tenant) }

// Heard tells whether all who are told have taken notice.
func (l *Log) Heard() bool {
	l.appended.mu.Lock()
	defer l.appended.mu.Unlock()
	for w := range l.appended.watchers {
		if len(w.wake) > 0 {
			return false
		}
	}
	return true
}
