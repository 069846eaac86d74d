package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/annals-kb/annals/http/client"
)

// Live is the address of the events that make the page out of date, as a stream. Empty if there are none.
func (p *page) Live() string {
	query := url.Values{}
	log, isLog := p.Data.(*logPage)
	switch {
	case p.Moment.Past() || p.Moment.HeadPosition == 0:
		return ""
	case p.Here(""):
	case p.Path == Root+"review":
		query["name"] = []string{"review.*", "knowledge.reported_stale", "knowledge.found_harmful"}
	case isLog && log.Refused == nil && !log.Following && p.param("cursor")+p.param("to")+p.param("order") == "":
		query = eventQuery(p)
	default:
		return ""
	}
	query.Set("after", strconv.FormatInt(p.Moment.HeadPosition, 10))
	return Root + "data/v1/events?" + query.Encode()
}

// stream passes events on as they are recorded, for less than a request may last. Then the browser asks again.
func (c *Console) stream(w http.ResponseWriter, r *http.Request) {
	p := c.page(w, r)
	ctx, cancel := context.WithTimeout(p.r.Context(), 25*time.Second)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": r.Header.Values("Last-Event-ID")}
	events, err := p.api.Open(ctx, client.Request{
		Method: http.MethodGet, Path: []string{"v1", "events"}, Query: p.Query, Header: header,
	})
	if err != nil {
		p.fail(problemOf(err))
		return
	}
	defer events.Close() //nolint:errcheck // it has been read
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer the stream
	control, part, read := http.NewResponseController(w), make([]byte, 4096), 0
	for err == nil {
		read, err = events.Read(part)
		if _, gone := w.Write(part[:read]); gone != nil || control.Flush() != nil {
			return
		}
	}
}
