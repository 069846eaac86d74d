package follow

import (
	"time"

	"github.com/annals-kb/annals/background"
)

// How often a projection that fails is retried: a page some times at once, with a pause between two attempts that
// doubles. A page that still fails because of an event is divided, until the stream of that event is put into
// quarantine. Any other failure stops the projection, and the page is tried again after a longer pause, without an
// end, unless the log was restored or has a hole.
const (
	attemptsAtPage  = 5
	attemptsAtEvent = 3 // until its stream is put into quarantine

	shortestPause, longestPause = 50 * time.Millisecond, 30 * time.Second
)

var betweenAttempts = background.Backoff{Shortest: 50 * time.Millisecond, Longest: time.Second}
