package events

import (
	"context"
	"time"
)

const (
	lull     = 25 * time.Millisecond // without commands: nobody is writing just now
	share    = 10                    // work in the background gets a tenth of the time, at least
	longStay = 2 * time.Second
)

// GiveWay lets work in the background wait while this process writes commands, so that it does not
// take the database, the lock and the processor from somebody who waits for an answer. It returns when
// none came for a moment, and at the latest after nine times as long as the work before took, or two
// seconds: the work goes on, in larger pieces, however busy the log is. Call it between pieces.
func (l *Log) GiveWay(ctx context.Context, took time.Duration) {
	patience, cancel := context.WithTimeout(ctx, min((share-1)*took, longStay))
	defer cancel()
	for {
		left := l.busyFor()
		if left <= 0 {
			return
		}
		select {
		case <-time.After(left):
		case <-patience.Done():
			return
		}
	}
}

// busyFor is after what time it may be quiet; 0 if it is.
func (l *Log) busyFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lanes) > 0 {
		return lull
	}
	return lull - time.Since(l.wrote)
}
