package events

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text/scrub"
)

// The limits of a page of recorded texts: so many texts, and so much time.
const (
	textsAtOnce = 200
	mostTexts   = 5000
	pageTime    = 2 * time.Second
)

// Recorded finds what a tenant's current rules would remove from recorded texts, within a range of positions. The
// work of a page is limited: through is the last position that was read.
func (e *ScrubbingWriter) Recorded(
	ctx context.Context, tenant string, from, to int64,
) (found []domain.Detection, through int64, err error) {
	if err := e.ready(); err != nil {
		return nil, 0, err
	}
	through = from - 1
	for looked, began := 0, time.Now(); looked < mostTexts && time.Since(began) < pageTime && through < to; {
		last, n, err := e.look(ctx, tenant, through, to, func(w domain.RecordedText, stream string) error {
			scrubber, err := e.scrubberFor(ctx, tenant, domain.Redact{Of: stream})
			if err != nil {
				return err
			}
			more, err := findings(ctx, scrubber, w, stream)
			found = append(found, more...)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		looked += n
		if through = last; n < textsAtOnce {
			through = to
		}
	}
	return found, through, nil
}

// ready refuses, with an error that matches [domain.ErrConflict], if this server does not scrub.
func (e *ScrubbingWriter) ready() error {
	if !e.scrub {
		return domain.Refuse(domain.ErrConflict, "this server scrubs nothing").
			WithFix("start it without ANNALS_SCRUB=off")
	}
	return nil
}

// look reads the next few texts after a position.
func (e *ScrubbingWriter) look(
	ctx context.Context, tenant string, after, to int64, each func(domain.RecordedText, string) error,
) (last int64, n int, err error) {
	var texts []domain.RecordedText
	var streams []string
	err = database.ForEach(ctx, e.log.db, func(rows *sql.Rows) error {
		var w domain.RecordedText
		var stream string
		var text []byte
		if err := rows.Scan(&w.Position, &w.EventID, &w.Name, &stream, &text); err != nil {
			return err
		}
		w.Text, last = text, w.Position
		texts, streams = append(texts, w), append(streams, stream)
		return nil
	}, `
		SELECT t.position, e.event_id, e.name, e.stream, t.text
		FROM event_texts AS t
		JOIN events AS e ON e.tenant = t.tenant AND e.position = t.position
		WHERE t.tenant = ? AND t.position > ? AND t.position <= ?
		ORDER BY t.position
		LIMIT ?`, tenant, after, to, textsAtOnce)
	if err != nil {
		return 0, 0, fmt.Errorf("read texts: %w", Unavailable(err))
	}
	for i, w := range texts {
		if err := each(w, streams[i]); err != nil {
			return 0, 0, err
		}
	}
	return last, len(texts), nil
}

// findings are a scrubber's detections in a text, by field and class.
func findings(
	ctx context.Context, scrubber *scrub.Scrubber, w domain.RecordedText, stream string,
) (found []domain.Detection, ended error) {
	domain.RewriteRecordedText(w.Text, func(s domain.RecordedString) string {
		_, redactions, err := scrubber.Scrub(ctx, s.Value)
		ended = cmp.Or(ended, err)
		for class, n := range redactions {
			if s.Name && !slices.Contains(secrets(), class) {
				continue // an id is never scrubbed
			}
			f := domain.Detection{
				Position: w.Position, EventID: w.EventID, Name: w.Name, Stream: stream,
				Field: s.Field, Class: string(class), Count: n, InName: s.Name,
			}
			same := func(other domain.Detection) bool {
				return other.Field == f.Field && other.Class == f.Class && other.InName == f.InName
			}
			if i := slices.IndexFunc(found, same); i >= 0 {
				found[i].Count += n
			} else {
				found = append(found, f)
			}
		}
		return s.Value
	})
	slices.SortFunc(found, domain.Detection.Compare)
	return found, ended
}

// secrets are the classes that are refused in names, too.
func secrets() []scrub.Class { return []scrub.Class{scrub.APIKey, scrub.JWT, scrub.PrivateKey} }

// Span is the range of positions between two times or positions, both included. If the second is now, it extends to
// the head. It is empty, with from after to, if nothing was recorded in it.
func (e *ScrubbingWriter) Span(
	ctx context.Context, tenant string, since, until domain.AsOf,
) (from, to int64, err error) {
	head, _, err := e.log.Reader.Head(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	from, to = max(since.Position, 1), head
	if !since.Time.IsZero() {
		if from, err = firstAt(ctx, e.log.db, tenant, since.Time, head); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case until.Position > 0:
		to = min(until.Position, head)
	case !until.Time.IsZero():
		if to, err = e.log.Finder.PositionAt(ctx, tenant, until.Time); err != nil {
			return 0, 0, err
		}
	}
	return from, to, nil
}

// Redact removes what the current rules find from the texts of streams, within a range of positions. It stops when
// nothing is left, or after some seconds. Each stream fails alone: its error matches [domain.ErrConflict] if the item
// is under legal hold. Earlier redactions stay. s names the caller, without a command.
func (e *ScrubbingWriter) Redact(
	ctx context.Context, s domain.Submission, streams []string, from, to int64,
) ([]domain.Redaction, error) {
	if err := e.ready(); err != nil {
		return nil, err
	}
	done := make([]domain.Redaction, len(streams))
	var left []int
	for i, stream := range streams {
		done[i] = domain.Redaction{Stream: stream, Redacted: map[string]int{}}
		left = append(left, i)
	}
	for began := time.Now(); len(left) > 0 && time.Since(began) < pageTime; {
		submissions := make([]domain.Submission, len(left))
		for i, place := range left {
			scrubber, err := e.scrubberFor(ctx, s.By.Tenant, domain.Redact{Of: streams[place]})
			if err != nil {
				return nil, err
			}
			submissions[i] = s
			submissions[i].Command = domain.Redact{
				By: s.By, Of: streams[place], From: from, To: to, Scrub: scrubWith(ctx, scrubber),
			}
		}
		var more []int
		for i, result := range e.log.SubmitAll(ctx, submissions) {
			if done[left[i]].Add(result); result.Err == nil && len(result.Receipt.Events) == domain.MostRedactions {
				more = append(more, left[i])
			}
		}
		left = more
	}
	for _, place := range left {
		done[place].More = true
	}
	return done, nil
}

// scrubWith lets a scrubber rewrite the texts of events.
func scrubWith(ctx context.Context, scrubber *scrub.Scrubber) domain.Scrub {
	return func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
		var found map[string]int
		var ended error
		clean := domain.RewriteRecordedText(text, func(s domain.RecordedString) string {
			if s.Name {
				return s.Value
			}
			rewritten, redactions, err := scrubber.Scrub(ctx, s.Value)
			ended = cmp.Or(ended, err)
			for class, n := range redactions {
				if found == nil {
					found = map[string]int{}
				}
				found[string(class)] += n
			}
			return rewritten
		})
		return clean, found, ended
	}
}
