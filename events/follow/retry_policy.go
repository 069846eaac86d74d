package follow

import (
	"time"

	"github.com/annals-kb/annals/database"
)

// Retries of a projection. A failed page is tried several times, with a pause that doubles. If an event in it still
// makes it fail, the page is divided until the stream of that event can be quarantined. Any other failure stalls the
// projection. It retries the page after a longer pause, without end, unless the log was restored or has a hole.
const (
	attemptsAtPage  = 5
	attemptsAtEvent = 3 // before its stream is put into quarantine

	shortestPause, longestPause = 50 * time.Millisecond, 30 * time.Second
)

var betweenAttempts = database.Backoff{Shortest: 50 * time.Millisecond, Longest: time.Second}
