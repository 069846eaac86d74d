package console

import (
	"net/url"
	"strconv"
	"time"

	"github.com/annals-kb/annals/http/api"
)

// bars are a histogram of events over time.
type bars struct {
	Bars      []bar
	Estimated bool
	Moment    string // where the moment of the page is, in bars; empty if that is not shown
}

// bar is a part of the time. Its page shows that part, or the state at its first event.
type bar struct {
	api.EventBucket
	Top     string // how far it is from the top, of 100
	Address string
}

const mostBars = 48

// First is the first of them.
func (b *bars) First() bar { return b.Bars[0] }

// Last is the last of them.
func (b *bars) Last() bar { return b.Bars[len(b.Bars)-1] }

// countEvents asks how many of the selected events were recorded over time. It returns nil if nothing is recorded.
func countEvents(p *page, query url.Values) (*bars, error) {
	query.Set("buckets", strconv.Itoa(mostBars))
	var got api.EventHistogram
	if err := p.get(&got, query, "v1", "events", "histogram"); err != nil || len(got.Buckets) == 0 {
		return nil, err
	}
	b := &bars{Estimated: got.Estimated}
	most := int64(1)
	for _, bucket := range got.Buckets {
		most = max(most, bucket.Count)
	}
	for _, bucket := range got.Buckets {
		share := float64(bucket.Count) / float64(most)
		b.Bars = append(b.Bars, bar{EventBucket: bucket, Top: short(min(95, 100-100*share))})
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
	b, err := countEvents(p, url.Values{})
	if b == nil {
		return nil, err
	}
	for i := range b.Bars {
		if first := b.Bars[i].FirstPosition; first > 0 {
			b.Bars[i].Address = p.With("as_of", strconv.FormatInt(first, 10))
		}
	}
	first := b.First().From
	share := float64(at.Sub(first)) / float64(max(b.Last().To.Sub(first), 1))
	b.Moment = short(float64(len(b.Bars)) * share)
	const day = 24 * time.Hour
	made := &timeBar{bars: b, DayBack: first.Format(time.RFC3339Nano)}
	if back := at.Add(-day); back.After(first) {
		made.DayBack = back.Format(time.RFC3339Nano)
	}
	if on := at.Add(day); on.Before(*head) {
		made.DayOn = on.Format(time.RFC3339Nano)
	}
	return made, nil
}

// countWeeks counts the events of each of the last weeks up to the page's day, in the past up to the moment. Its bars
// lead to their part of the log.
func countWeeks(p *page) (*bars, error) {
	const day = 24 * time.Hour
	end := p.Now.UTC().Truncate(day).Add(day)
	if at := p.Moment.RecordedAt; p.Moment.Past() && at != nil {
		end = at.UTC().Add(time.Microsecond) // the end is not a part of a period
	}
	b, err := countEvents(p, url.Values{
		"from": {end.Add(-7 * day * mostBars).Format(time.RFC3339Nano)}, "to": {end.Format(time.RFC3339Nano)},
	})
	if b == nil {
		return nil, err
	}
	for i, one := range b.Bars {
		b.Bars[i].Address = p.To("log", "from", one.From.Format(time.RFC3339Nano), "to", one.To.Format(time.RFC3339Nano))
	}
	return b, nil
}

// short writes a coordinate.
func short(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
