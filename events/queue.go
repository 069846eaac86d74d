package events

import (
	"context"
	"sync/atomic"

	"github.com/annals-kb/annals/domain"
)

// group is what one caller submitted together: it is written in one transaction.
type group struct {
	commands []*command
	taken    atomic.Bool   // by the committer or by the caller that gives up, whichever is first
	done     chan struct{} // closed when every command has its result
}

// command is a submission and what becomes of it. The committer writes the outcome, and closes the
// group's done afterwards.
type command struct {
	domain.Submission
	result domain.Result
	// earlier is set instead of a result if the request was made before.
	earlier *request
}

// newGroup is of the submissions at these places.
func newGroup(submissions []domain.Submission, places []int) *group {
	g := &group{commands: make([]*command, len(places)), done: make(chan struct{})}
	commands := make([]command, len(places))
	for i, place := range places {
		commands[i].Submission = submissions[place]
		g.commands[i] = &commands[i]
	}
	return g
}

// tenantQueue is a tenant's queue. It exists while there is a committer at work.
type tenantQueue struct {
	groups  []*group
	waiting int // commands in all groups
}

// enqueue hands a group to the tenant's committer, and starts one if there is none.
func (l *Log) enqueue(tenant string, g *group) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return domain.Refuse(domain.ErrUnavailable, "the log is closing").WithFix("try again in a moment")
	}
	q, working := l.queues[tenant]
	if !working {
		q = &tenantQueue{}
	}
	if q.waiting+len(g.commands) > l.options.Queue {
		return domain.Refuse(domain.ErrBusy, "too many writes are waiting").WithFix("try again in a moment")
	}
	q.groups = append(q.groups, g)
	q.waiting += len(g.commands)
	l.metrics.queue.Add(float64(len(g.commands)))
	if !working {
		l.queues[tenant] = q
		l.committers.Go(func() { l.commitAll(tenant, q) })
	}
	return nil
}

// take removes from a queue what fits into one transaction: whole groups, and at least one. Those
// whose callers have given up are dropped. It returns nothing when the queue is empty, and the
// queue with its committer has then ended.
func (l *Log) take(tenant string, q *tenantQueue) []*group {
	l.mu.Lock()
	defer l.mu.Unlock()
	var batch []*group
	size, n := 0, 0
	for _, g := range q.groups {
		if len(batch) > 0 && size+len(g.commands) > l.options.Batch {
			break
		}
		n++
		q.waiting -= len(g.commands)
		l.metrics.queue.Sub(float64(len(g.commands)))
		if g.taken.CompareAndSwap(false, true) {
			batch = append(batch, g)
			size += len(g.commands)
		}
	}
	clear(q.groups[:n])
	q.groups = q.groups[n:]
	if len(batch) == 0 {
		delete(l.queues, tenant)
	}
	return batch
}

// wait returns when every command of the group has its result. If ctx ends before the group was
// taken, it is dropped and the error is that of ctx; afterwards it is carried through.
func (g *group) wait(ctx context.Context) error {
	select {
	case <-g.done:
		return nil
	case <-ctx.Done():
	}
	if g.taken.CompareAndSwap(false, true) {
		return context.Cause(ctx)
	}
	<-g.done
	return nil
}
