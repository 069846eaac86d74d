package console

import (
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/annals-kb/annals/http/api"
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

// calendar counts the events of each day of a year, in the units of its view box. A column is a week.
type calendar struct {
	Width, Height int
	Total         int64
	Estimated     bool
	Days          []calendarDay
	Months        []calendarMonth
}

// calendarDay is a day, and the address of its part of the log.
type calendarDay struct {
	From        time.Time
	Count       int64
	X, Y, Level int // a higher level has more events; 0 has none
	Address     string
}

// calendarMonth is the part of a month that the calendar shows, and its days with events.
type calendarMonth struct {
	Name    string
	X       int
	Address string
	Count   int64
	Days    []calendarDay
}

const (
	calendarDays = 365
	calendarStep = 14 // from one square to the next
	calendarTop  = 16 // the names of the months
)

// readCalendar counts the events of the year up to the end of the page's day, in the past up to the moment.
func readCalendar(p *page) (*calendar, error) {
	const day, layout = 24 * time.Hour, time.DateOnly
	end := p.Now
	if at := p.Moment.RecordedAt; p.Moment.Past() && at != nil {
		end = *at
	}
	today := end.UTC().Truncate(day)
	first := today.AddDate(0, 0, 1-calendarDays)
	got, err := countDays(p, first, today.Add(day), calendarDays)
	if err != nil || len(got.Buckets) != calendarDays {
		return nil, err
	}
	if newest := &got.Buckets[calendarDays-1]; p.Moment.Past() && newest.Count > 0 {
		until, err := countDays(p, today, end.Add(time.Microsecond), 1)
		if err != nil {
			return nil, err
		}
		newest.Count = 0
		for _, bucket := range until.Buckets {
			newest.Count += bucket.Count
		}
	}
	c := &calendar{Estimated: got.Estimated, Height: calendarTop + 7*calendarStep}
	most := int64(1)
	for _, bucket := range got.Buckets {
		most = max(most, bucket.Count)
	}
	offset := (int(first.Weekday()) + 6) % 7 // weeks begin on Monday
	for i, bucket := range got.Buckets {
		next, place := bucket.From.Add(day), i+offset
		one := calendarDay{
			From: bucket.From, Count: bucket.Count, X: place / 7 * calendarStep, Y: calendarTop + place%7*calendarStep,
			Level:   int(math.Ceil(4 * math.Sqrt(float64(bucket.Count)/float64(most)))),
			Address: p.To("log", "from", bucket.From.Format(layout), "to", next.Format(layout)),
		}
		c.Total, c.Width = c.Total+one.Count, one.X+calendarStep
		if name := one.From.Format("2006-01"); len(c.Months) == 0 || c.Months[len(c.Months)-1].Name != name {
			end := one.From.AddDate(0, 1, 1-one.From.Day())
			c.Months = append(c.Months, calendarMonth{
				Name: name, X: one.X, Address: p.To("log", "from", one.From.Format(layout), "to", end.Format(layout)),
			})
		}
		month := &c.Months[len(c.Months)-1]
		if month.Count += one.Count; one.Count > 0 {
			month.Days = append(month.Days, one)
		}
		c.Days = append(c.Days, one)
	}
	return c, nil
}

func countDays(p *page, from, to time.Time, buckets int) (got api.EventHistogram, err error) {
	err = p.get(&got, url.Values{
		"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}, "buckets": {strconv.Itoa(buckets)},
	}, "v1", "events", "histogram")
	return got, err
}
