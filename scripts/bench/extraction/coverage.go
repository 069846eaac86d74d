package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/scripts/bench"
	"github.com/annals-kb/annals/text"
)

// coverage is how much of what questions ask for becomes knowledge.
type coverage struct {
	Engine     string         `json:"engine"`
	Turns      int            `json:"turns"`
	Evidence   int            `json:"evidence_turns"`
	Covered    float64        `json:"covered"`        // share of those that an item was made from
	Used       float64        `json:"turns_in_items"` // share of all turns that an item was made from
	Items      int            `json:"items"`
	Duplicates int            `json:"duplicates"` // items that say with the same words what another of their conversation says
	Decisions  domain.Decided `json:"decisions"`
	P50        float64        `json:"archive_p50_ms"`
	P99        float64        `json:"archive_p99_ms"`
	Rate       float64        `json:"turns_per_second"`
}

// turn is what somebody said.
type turn struct {
	ID      string            `json:"id"`
	Content string            `json:"content"`
	Tags    map[string]string `json:"tags"`
	Owner   domain.Entity     `json:"owner"`
}

type question struct {
	Evidence []string `json:"evidence"`
}

// cover commits every session of the conversations, extracts, and looks which turns the items were made from.
func (s *server) cover(ctx context.Context, o options) (coverage, error) {
	var c coverage
	turns, err := readLines[turn](filepath.Join(o.locomo, "knowledge.ndjson"))
	if err != nil {
		return c, err
	}
	questions, err := readLines[question](filepath.Join(o.locomo, "queries.ndjson"))
	if err != nil {
		return c, err
	}
	evidence := map[string]bool{}
	for _, q := range questions {
		for _, id := range q.Evidence {
			evidence[id] = true
		}
	}
	c.Turns, c.Evidence, c.Decisions = len(turns), len(evidence), domain.Decided{}
	said, commits, err := s.hold(ctx, turns)
	if err != nil {
		return c, err
	}
	used := map[string]bool{} // turns
	var times []time.Duration
	began := time.Now()
	bar := bench.Watch("extract", len(commits))
	defer bar.End()
	for _, commit := range commits {
		started := time.Now()
		page := events.Page{Tenant: domain.DefaultTenant, Events: []domain.Event{commit}}
		if _, err := s.worker.Prepare(ctx, page); err != nil {
			return c, err
		}
		times = append(times, time.Since(started))
		bar.Add(1)
	}
	c.Rate = float64(len(turns)) / time.Since(began).Seconds()
	sayings := map[string]int{}
	for _, commit := range commits {
		settled, _, err := s.log.Settlement(ctx, commit)
		if err != nil {
			return c, err
		}
		extracted, is := settled.Fact.(domain.SessionExtracted)
		if !is {
			return c, fmt.Errorf("%s was not extracted: %+v", commit.Stream, settled.Fact)
		}
		owner, _, _ := domain.SessionOf(commit.Stream)
		for _, l := range extracted.Lessons {
			c.Decisions[l.Decision]++
			if l.Item == "" {
				continue
			}
			c.Items++
			for _, source := range l.Sources {
				used[said[source]] = true
			}
			words, _ := text.TermCounts(l.Text.Content)
			saying := string(owner) + " " + string(l.Category) + " " + strings.Join(slices.Sorted(maps.Keys(words)), " ")
			if sayings[saying]++; sayings[saying] > 1 {
				c.Duplicates++
			}
		}
	}
	covered := 0
	for id := range evidence {
		if used[id] {
			covered++
		}
	}
	c.Covered, c.Used = share(covered, len(evidence)), share(len(used), len(turns))
	spread := bench.SpreadOf(times)
	c.P50, c.P99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P99)
	return c, nil
}

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }

// hold adds the turns to sessions of their conversations and commits each. Both who speak are users: neither
// is an assistant. said are the turns by the events of their messages.
func (s *server) hold(ctx context.Context, turns []turn) (said map[string]string, commits []domain.Event, err error) {
	said = map[string]string{}
	by := domain.OpenPrincipal()
	for session := range sessionsOf(turns) {
		owner := domain.Entity(domain.User + ":" + session[0].Owner.ID())
		target := domain.SessionTarget{By: by, Owner: owner, ID: "session-" + session[0].Tags["session"]}
		for part := range slices.Chunk(session, domain.MaxMessages) {
			command := domain.AddMessages{SessionTarget: target}
			for _, t := range part {
				_, content, _ := strings.Cut(t.Content, ": ")
				command.Messages = append(command.Messages, domain.Said{
					Role: domain.RoleUser, Message: domain.Message{Peer: t.Tags["speaker"], Parts: []domain.Part{{Type: domain.PartText, Text: content}}},
				})
			}
			receipt, err := s.log.Submit(ctx, domain.Submission{Command: command, By: by})
			if err != nil {
				return nil, nil, err
			}
			added := receipt.Events[len(receipt.Events)-len(part):]
			for i, t := range part {
				said[added[i].EventID] = t.ID
			}
		}
		receipt, err := s.log.Submit(ctx, domain.Submission{Command: domain.CommitSession{SessionTarget: target}, By: by})
		if err != nil {
			return nil, nil, err
		}
		commits = append(commits, receipt.Events[0])
	}
	return said, commits, nil
}

// sessionsOf groups turns that follow one another in one session.
func sessionsOf(turns []turn) func(yield func([]turn) bool) {
	return func(yield func([]turn) bool) {
		for from := 0; from < len(turns); {
			to := from + 1
			for to < len(turns) && turns[to].Owner == turns[from].Owner && turns[to].Tags["session"] == turns[from].Tags["session"] {
				to++
			}
			if !yield(turns[from:to]) {
				return
			}
			from = to
		}
	}
}

func readLines[T any](path string) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	var list []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", path, len(list)+1, err)
		}
		list = append(list, v)
	}
	return list, lines.Err()
}
