package http

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

const (
	mostStreams = 1000 // at the same time
	feedPage    = 100  // events that one stream holds in memory
)

// waiting is sent while the database is away, which is expected to come back.
const waiting = ": waiting for the database\n\n"

// feedDelay lets commits that follow one another closely be read together.
const feedDelay = 50 * time.Millisecond

// feed is a caller that follows the log. It sends a page before it reads the next one. So a slow caller occupies the
// memory of one page. A caller that reads nothing is disconnected and may resume.
type feed struct {
	server  *Server
	call    *call
	query   domain.EventQuery
	choose  chooser // nil for all events of the query
	control *http.ResponseController
}

// chooser are those of some events that the caller receives.
type chooser func(ctx context.Context, from []domain.Event) ([]domain.Event, error)

// Why a feed ended.
const (
	endLeft    = "left"    // the caller
	endSlow    = "slow"    // the caller read nothing for Config.Timeout
	endClosing = "closing" // the server shuts down
	endRefused = "refused" // the caller may not read any more
	endTrouble = "trouble" // an error of the server
)

var feedEnds = []string{endLeft, endSlow, endClosing, endRefused, endTrouble}

// follow sends events as they are recorded, from the position of the caller.
func (s *Server) follow(
	ctx context.Context, c *call, in *eventsInput, query domain.EventQuery, choose chooser,
) (*streamed, error) {
	for field, given := range map[string]bool{
		"order": in.Order == "desc", "limit": in.Limit != "", "cursor": in.Cursor != "", "to": in.To != "",
	} {
		if given {
			c.found.Add(field, "is for lists: a stream goes on as the log does")
		}
	}
	if err := c.found.Err(); err != nil {
		return nil, err
	}
	if last := c.request.Header.Get("Last-Event-ID"); last != "" {
		position, err := s.cfg.Historian.PositionOf(ctx, query.Tenant, last)
		if err != nil {
			return nil, err
		}
		query.After = position
	} else if err := s.reached(ctx, query, false); err != nil {
		return nil, err
	}
	query.Limit = feedPage
	if s.streams.Add(1) > mostStreams {
		s.streams.Add(-1)
		return nil, domain.Refuse(domain.ErrBusy, "%d callers follow the log already", mostStreams)
	}
	return &streamed{Body: func(to huma.Context) {
		defer s.streams.Add(-1)
		f := &feed{server: s, call: c, query: query, choose: choose, control: http.NewResponseController(c.response)}
		to.SetHeader("Content-Type", streamType)
		to.SetHeader("X-Accel-Buffering", "no") // proxies must not buffer the stream
		to.SetStatus(http.StatusOK)
		_ = f.control.SetReadDeadline(time.Time{}) // there is no limit to the time of the connection
		s.metrics.following.Inc()
		defer s.metrics.following.Dec()
		s.metrics.ended.WithLabelValues(f.run(c.request.Context())).Inc()
	}}, nil
}

// run sends events until the feed ends, and returns why.
func (f *feed) run(ctx context.Context) (end string) {
	grown, leave := f.server.cfg.Historian.Watch(f.query.Tenant)
	defer leave()
	beat := time.NewTicker(f.server.cfg.Heartbeat)
	defer beat.Stop()
	if end := f.send("retry: 2000\n: following\n\n"); end != "" {
		return end
	}
	for {
		more, end := f.step(ctx)
		if end != "" {
			return end
		}
		if more {
			continue
		}
		select {
		case <-grown:
			select {
			case <-time.After(feedDelay):
			case <-ctx.Done():
			}
		case <-beat.C:
			if end := f.heartbeat(); end != "" {
				return end
			}
		case <-f.server.leaving:
			return f.close(endClosing, errClosing)
		case <-ctx.Done():
			return endLeft
		}
	}
}

// step sends the next page; more tells that another page follows at once.
func (f *feed) step(ctx context.Context) (more bool, end string) {
	select {
	case <-f.server.leaving:
		return false, f.close(endClosing, errClosing)
	default:
	}
	reading, cancel := context.WithTimeout(ctx, f.server.cfg.Timeout)
	defer cancel()
	head, _, err := f.server.cfg.Historian.Head(reading, f.query.Tenant)
	if err == nil {
		var events []domain.Event
		var next int64
		events, next, err = f.server.cfg.Historian.Find(reading, f.query)
		if err == nil && len(events) > 0 {
			err = f.permitted(reading)
		}
		if err == nil && f.choose != nil {
			events, err = f.choose(reading, events)
		}
		if err == nil {
			for _, e := range events {
				if end := f.send(sseFrame(e)); end != "" {
					return false, end
				}
				f.query.After = e.Position
			}
			if next == 0 { // the query looked at everything up to the head
				next = head
			}
			f.query.After = max(f.query.After, next)
			return f.query.After < head, ""
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, endLeft
	case answerTo(err).status == http.StatusServiceUnavailable:
		return false, f.send(waiting)
	case answerTo(err).status < http.StatusInternalServerError:
		return false, f.close(endRefused, err)
	}
	f.call.err = err
	return false, f.close(endTrouble, err)
}

// permitted checks that the caller is still known, with the role that the stream began with. From now on, the feed
// reads with the rights that the caller has now.
func (f *feed) permitted(ctx context.Context) error {
	p, err := f.server.authenticate(f.call.request.WithContext(ctx))
	if err == nil && p.Role != f.call.principal.Role {
		err = domain.Refuse(domain.ErrForbidden, "the role of the key was changed").WithFix("follow again")
	}
	if err == nil {
		f.call.principal = p // the query points to it
	}
	return err
}

// sseFrame is an event as a server-sent event. Its id is the event to resume after.
func sseFrame(e domain.Event) string {
	data, _ := json.Marshal(EventOf(e)) // of strings, numbers and JSON that was valid when it was recorded
	return "id: " + e.EventID + "\ndata: " + string(data) + "\n\n"
}

// heartbeat sends a sign of life, and checks the caller's rights again.
func (f *feed) heartbeat() (end string) {
	switch err := f.permitted(f.call.request.Context()); {
	case err == nil:
		return f.send(": alive\n\n")
	case answerTo(err).status == http.StatusServiceUnavailable:
		return f.send(waiting)
	default:
		return f.close(endRefused, err)
	}
}

// close tells the caller why the stream ends.
func (f *feed) close(end string, err error) string {
	data, _ := json.Marshal(problemOf(err, f.call.instance()))
	_ = f.send("event: closed\ndata: " + string(data) + "\n\n")
	return end
}

// send writes within Config.Timeout. It returns why the feed ends if it cannot.
func (f *feed) send(text string) (end string) {
	_ = f.control.SetWriteDeadline(time.Now().Add(f.server.cfg.Timeout))
	_, err := f.call.response.Write([]byte(text))
	if err == nil {
		err = f.control.Flush()
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.call.err = fmt.Errorf("a follower of the log read nothing for %s: %w", f.server.cfg.Timeout, context.Canceled)
		return endSlow
	}
	return endLeft
}
