package domain

// mostUnread is how many events may lie between somebody's search and what he remembers after it: they are looked
// through while nobody else writes.
const mostUnread = 10_000

// checkNotRepeated refuses a new item if another that the caller may see came to say the same after he looked.
func (c Remember) checkNotRepeated(dc DecisionContext) error {
	if c.UnlessSaidSince == nil {
		return nil
	}
	const again = "search again: what says the same may be enough"
	since, head := *c.UnlessSaidSince, dc.Head()
	switch {
	case since > head:
		var p Problems
		p.Add("unless_said_since", "is beyond the log, which ends at %d", head)
		return p.Err()
	case head-since > mostUnread:
		return Refuse(ErrPrecondition, "more than %d events were recorded after position %d", mostUnread, since).WithFix(again)
	}
	content := c.Knowledge.Text.Content
	for _, id := range dc.ItemsWithContent(content, since) {
		if k := dc.Knowledge(id); k.Status == Active && k.Text.Content == content && c.By.MaySee(k) {
			return Refuse(ErrPrecondition, "%s came to say the same after position %d", id, since).WithFix(again)
		}
	}
	return nil
}
