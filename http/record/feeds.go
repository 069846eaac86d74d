package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

const (
	mostStreams = 1000 // at the same time
	mostOfOne   = 20   // of one caller
	mostReading = 4    // streams that read the log for themselves at the same time
)

// Feeds are the open streams, which are limited. They begin with the routes of [Record], and are safe for concurrent
// use.
type Feeds struct {
	api       *serve.API
	events    visible.Events
	following prometheus.Gauge
	ended     *prometheus.CounterVec
	reading   chan struct{} // holds a token for each stream that reads for itself

	mu    sync.Mutex
	open  int
	of    map[string]int   // by caller
	tails map[string]*tail // by tenant
}

// begin prepares the feeds for the events of a server.
func (f *Feeds) begin(a *serve.API, events visible.Events) {
	f.api, f.events = a, events
	f.following = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "annals_http_streams", Help: "Callers that follow the log.",
	})
	f.ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "annals_http_streams_ended_total", Help: "Callers that followed the log, by why they do no more.",
	}, []string{"reason"})
	f.reading, f.of, f.tails = make(chan struct{}, mostReading), map[string]int{}, map[string]*tail{}
	for _, reason := range []string{endLeft, endSlow, endClosing, endRefused, endTrouble} {
		f.ended.WithLabelValues(reason)
	}
	a.Registry.MustRegister(f.following, f.ended)
}

// join counts a stream, and starts the tail of its tenant if there is none. Call leave when done.
func (f *Feeds) join(c *serve.Call) (t *tail, leave func(), err error) {
	tenant, caller := c.Principal.Tenant, serve.SubjectOf(c.Principal)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.of[caller] >= mostOfOne:
		return nil, nil, domain.Refuse(serve.ErrRate, "%s follows the log %d times already", c.Principal.Subject, mostOfOne).
			WithFix("end a stream before you begin another")
	case f.open >= mostStreams:
		return nil, nil, domain.Refuse(domain.ErrBusy, "%d callers follow the log already", mostStreams)
	}
	if t = f.tails[tenant]; t == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(c.Request.Context()))
		t = &tail{feeds: f}
		t.publish(&tailPage{after: math.MaxInt64}) // until it has read
		var running sync.WaitGroup
		running.Go(func() { t.run(ctx, tenant) })
		t.end = func() { cancel(); running.Wait() }
		f.tails[tenant] = t
	}
	f.open++
	f.of[caller]++
	t.streams++
	return t, func() {
		f.mu.Lock()
		f.open--
		if f.of[caller]--; f.of[caller] == 0 {
			delete(f.of, caller)
		}
		t.streams--
		last := t.streams == 0
		if last {
			delete(f.tails, tenant)
		}
		f.mu.Unlock()
		if last {
			t.end()
		}
	}, nil
}

// Follow answers with the events of a query as they are recorded, from the position of the caller. Choose is nil for
// all that the caller may see.
func (f *Feeds) Follow(
	ctx context.Context, c *serve.Call, in serve.Paging, query domain.EventQuery, choose Chooser,
) (*serve.Streamed, error) {
	for field, sent := range map[string]bool{
		"order": query.Descending, "limit": in.Limit != "", "cursor": in.Cursor != "", "to": !query.To.IsZero(),
	} {
		if sent {
			c.Found.Add(field, "is for lists: a stream goes on as the log does")
		}
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if last := c.Request.Header.Get("Last-Event-ID"); last != "" {
		event, err := f.events.Find(ctx, c, last)
		if errors.Is(err, domain.ErrNotFound) { // for a hidden event, too
			err = domain.Refuse(domain.ErrMalformed, "there is no event with the id that was named as the last one seen").
				WithFix("name the id of an event as it came, or continue with after=POSITION; if the log was restored from a " +
					"backup, begin again without both")
		}
		if err != nil {
			return nil, err
		}
		query.After = event.Position
	} else if err := f.events.CheckReached(ctx, query, false); err != nil {
		return nil, err
	}
	query.Limit = pageSize
	tail, leave, err := f.join(c)
	if err != nil {
		return nil, err
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		defer leave()
		one := &feed{feeds: f, call: c, tail: tail, query: query, choose: choose, looked: c.Looked}
		one.control, one.headers = http.NewResponseController(c.Response), fmt.Sprint(c.Request.Host, c.Request.Header)
		defer tail.known.Delete(one.headers)
		to.SetHeader("Content-Type", serve.StreamType)
		to.SetHeader("X-Accel-Buffering", "no") // proxies must not buffer the stream
		to.SetStatus(http.StatusOK)
		_ = one.control.SetReadDeadline(time.Time{}) // there is no limit to the time of the connection
		f.following.Inc()
		defer f.following.Dec()
		f.ended.WithLabelValues(one.run(c.Request.Context())).Inc()
	}}, nil
}
