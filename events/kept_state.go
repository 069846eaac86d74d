package events

import (
	"sync"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// keptStates has the policies of each tenant, which nearly every command looks up. They are current as long as the
// newest event of the tenant's log is the one after which they were noted: a command of another server costs a query.
// It is safe for concurrent use.
type keptStates struct {
	mu sync.Mutex
	of map[string]keptState
}

type keptState struct {
	newest uuid.UUID // the newest event of the log; zero if it has none
	stream domain.Stream
}

// recall adds the policies to the streams that the batch knows, if they are current. The batch has read the head of the
// log.
func (k *keptStates) recall(b *batch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, found := k.of[b.tenant]
	if found && kept.newest == b.head.eventID && b.streams.known[domain.VerificationStream] == nil {
		b.streams.known[domain.VerificationStream] = &kept.stream
	}
}

// note notes the policies after the batch, which was committed.
func (k *keptStates) note(b *batch) {
	known := b.streams.known[domain.VerificationStream]
	if known == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]keptState{}
	}
	k.of[b.tenant] = keptState{b.ids.last, *known}
}
