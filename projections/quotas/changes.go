package quotas

import (
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// changes are how much facts add, by scope: in all under the empty scope, and to each scope of the item.
func changes(of events.Decision) map[domain.Scope]Amount {
	k := &domain.Knowledge{}
	if id, isItem := domain.ItemOf(of.Command.Stream()); isItem {
		k = of.Items.Knowledge(id)
	}
	all := map[domain.Scope]Amount{}
	add := func(more Amount, scopes []domain.Scope) {
		for _, scope := range scopes {
			all[scope] = all[scope].plus(more)
		}
	}
	for _, fact := range of.Facts {
		switch f := fact.(type) {
		case domain.Remembered:
			add(Amount{1, sizeOf(f.Text), 1}, append([]domain.Scope{""}, f.Scopes...))
		case domain.Revised:
			add(Amount{0, sizeOf(f.Of(k.Text)) - sizeOf(k.Text), 1}, append([]domain.Scope{""}, k.Scopes...))
		case domain.Restored:
			if k.Status == domain.IsDeleted {
				add(Amount{1, sizeOf(k.Text), 1}, append([]domain.Scope{""}, k.Scopes...))
			}
		case domain.Deleted:
			add(Amount{-1, -sizeOf(k.Text), 0}, append([]domain.Scope{""}, k.Scopes...))
		case domain.Rescoped:
			add(Amount{1, sizeOf(k.Text), 0}, slices.DeleteFunc(slices.Clone(f.Scopes),
				func(s domain.Scope) bool { return slices.Contains(k.Scopes, s) }))
		case domain.MessageAdded:
			add(Amount{Writes: 1}, []domain.Scope{""})
		}
	}
	return all
}

// written are the names of the facts that count as writes of a day, as in [changes].
var written = []string{
	domain.Remembered{}.Name(), domain.Revised{}.Name(), domain.Restored{}.Name(), domain.MessageAdded{}.Name(),
}

func sizeOf(t domain.Text) int64 {
	return int64(len(t.Task) + len(t.Content) + len(t.Abstract) + len(t.Overview) + len(t.Meta))
}
