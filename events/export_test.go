package events

// Tell tells whoever follows a tenant's log that it has grown, as polling does when it sees what was read meanwhile.
func (l *Log) Tell(tenant string) { l.news.notify(tenant) }

// Heard tells whether all who are told have taken notice.
func (l *Log) Heard() bool {
	l.news.mu.Lock()
	defer l.news.mu.Unlock()
	for w := range l.news.watchers {
		if len(w.wake) > 0 {
			return false
		}
	}
	return true
}
