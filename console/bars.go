package console

import (
	"net/url"
	"strconv"
	"time"

	"github.com/annals-kb/annals/api"
)

// bars are a histogram of events over time, in the units of its view box.
type bars struct {
	Width, Height int
	Estimated     bool
	Bars          []bar
	Moment        string // where the moment of the page is; empty for now
}

// bar is a part of the time. Its page shows that part, or the state at its first event.
type bar struct {
	api.EventBucket
	X, Y, W, H string
	Address    string
}

// countEvents asks how many of the selected events were recorded over time. It returns nil if nothing is recorded.
func countEvents(p *page, query url.Values, height int) (*bars, error) {
	query.Set("buckets", "48")
	var got api.EventHistogram
	if err := p.get(&got, query, "v1", "events", "histogram"); err != nil || len(got.Buckets) == 0 {
		return nil, err
	}
	b := &bars{Width: 960, Height: height, Estimated: got.Estimated}
	most := int64(1)
	for _, bucket := range got.Buckets {
		most = max(most, bucket.Count)
	}
	step := float64(b.Width) / float64(len(got.Buckets))
	for i, bucket := range got.Buckets {
		one := bar{EventBucket: bucket, X: short(float64(i) * step), W: short(step - 2), Y: short(float64(height)), H: "0"}
		if bucket.Count > 0 {
			tall := max(3, float64(height)*float64(bucket.Count)/float64(most))
			one.Y, one.H = short(float64(height)-tall), short(tall)
		}
		b.Bars = append(b.Bars, one)
	}
	if at, first := p.Moment.RecordedAt, got.Buckets[0].From; p.Moment.Past() && at != nil {
		whole := got.Buckets[len(got.Buckets)-1].To.Sub(first)
		b.Moment = short(float64(b.Width) * float64(at.Sub(first)) / float64(max(whole, 1)))
	}
	return b, nil
}

// timeBar is the histogram of the whole log in the time bar. Its bars lead to moments.
type timeBar struct {
	*bars
	DayBack, DayOn string // moments a day from that of the page, within the log; empty for now
}

// readTimeBar counts the events of the whole log, for a page that shows the past.
func readTimeBar(p *page) (*timeBar, error) {
	at, head := p.Moment.RecordedAt, p.Moment.HeadAt
	if !p.Moment.Past() || at == nil || head == nil {
		return nil, nil
	}
	b, err := countEvents(p, url.Values{}, 20)
	if b == nil {
		return nil, err
	}
	for i := range b.Bars {
		if first := b.Bars[i].FirstPosition; first > 0 {
			b.Bars[i].Address = p.With("as_of", strconv.FormatInt(first, 10))
		}
	}
	const day = 24 * time.Hour
	made := &timeBar{bars: b, DayBack: b.Bars[0].From.Format(time.RFC3339Nano)}
	if back := at.Add(-day); back.After(b.Bars[0].From) {
		made.DayBack = back.Format(time.RFC3339Nano)
	}
	if on := at.Add(day); on.Before(*head) {
		made.DayOn = on.Format(time.RFC3339Nano)
	}
	return made, nil
}
