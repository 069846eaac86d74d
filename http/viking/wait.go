package viking

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// index tells how much of what was written is found by searches.
type index struct {
	tree     tree
	reader   IndexReader
	sessions Sessions
}

func (s index) routes(on route) {
	on("POST /api/v1/system/wait", s.wait)
	on("POST /api/v1/system/consistency", s.consistency)
	on("POST /api/v1/content/reindex", s.reindex)
}

// queue counts the work of a background task.
type queue struct {
	Processed int64    `json:"processed"`
	Errors    int      `json:"error_count"`
	Messages  []string `json:"errors"`
}

// wait returns when everything is extracted from committed sessions and searches by meaning find it.
func (s index) wait(ctx context.Context, q *query) (any, error) {
	in := struct {
		Timeout *float64 `json:"timeout"`
	}{}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	patience := longestWait
	if in.Timeout != nil && *in.Timeout >= 0 {
		patience = time.Duration(min(*in.Timeout, longestWait.Seconds()) * float64(time.Second))
	}
	before, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if before.Head > 0 {
		if err := s.sessions.AwaitExtraction(waiting, q.caller.Tenant, before.Head); err != nil {
			return nil, err
		}
	}
	after, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	queues, err := s.awaitIndexed(waiting, q)
	if err == nil {
		queues["Semantic"] = queue{Processed: after.Head - before.Head, Messages: []string{}}
	}
	return queues, err
}

// longestWait is the longest time that a request waits for background work; the whole request may take 30 s.
const longestWait = 25 * time.Second

// awaitIndexed waits until searches by meaning find everything that was written.
func (s index) awaitIndexed(ctx context.Context, q *query) (map[string]queue, error) {
	before, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if before.Head > 0 {
		if err := s.reader.Await(waiting, q.caller.Tenant, before.Head, true); err != nil {
			return nil, err
		}
	}
	return map[string]queue{
		"Embedding": {Processed: before.LagEvents, Messages: []string{}},
		"Semantic":  {Messages: []string{}},
	}, nil
}

// meaningStatus is the status of the projection of vectors.
func (s index) meaningStatus(ctx context.Context, q *query) (domain.ProjectionStatus, error) {
	all, err := s.reader.Status(ctx, q.caller.Tenant)
	for _, status := range all {
		if status.Name == "meaning" {
			return status, err
		}
	}
	return domain.ProjectionStatus{}, err
}

// reindex starts nothing, since terms and vectors always follow from the log. With wait, it returns when searches
// find everything that was written.
func (s index) reindex(ctx context.Context, q *query) (any, error) {
	in := struct {
		URI    string `json:"uri"`
		Mode   string `json:"mode"`
		Wait   *bool  `json:"wait"`
		DryRun bool   `json:"dry_run"`
	}{Mode: "vectors_only"}
	a, err := q.at(q.bind(&in))
	if err != nil {
		return nil, err
	}
	if _, err := s.tree.find(ctx, q.caller, a); err != nil {
		return nil, err
	}
	out := map[string]any{"uri": a.String(), "mode": in.Mode, "dry_run": in.DryRun, "status": "accepted"}
	if in.DryRun || in.Wait != nil && !*in.Wait {
		return out, nil
	}
	out["status"] = "completed"
	out["queue_status"], err = s.awaitIndexed(ctx, q)
	return out, err
}

// unreadItem is an item whose newest event has no vectors yet.
type unreadItem struct {
	URI   string       `json:"uri"`
	Path  string       `json:"path"`
	Level domain.Level `json:"level"`
}

// consistency compares the items at and below an address with their vectors. It counts the items that a search by
// meaning does not find yet.
func (s index) consistency(ctx context.Context, q *query) (any, error) {
	var in struct {
		URI string `json:"uri"`
	}
	a, err := q.at(q.bind(&in))
	if err != nil {
		return nil, err
	}
	meaning, err := s.meaningStatus(ctx, q)
	if err != nil {
		return nil, err
	}
	const most = 100
	items, missing, list := 0, 0, []unreadItem{}
	err = s.tree.walkItems(ctx, q, a, func(k *domain.Knowledge) error {
		items++
		if k.Position > meaning.Position {
			uri := domain.URI(k.Text.URI)
			if missing++; len(list) < most {
				path := strings.TrimPrefix(strings.TrimPrefix(string(uri), string(a.uri)), "/")
				list = append(list, unreadItem{URI: a.format(uri), Path: path, Level: uri.Level()})
			}
		}
		return nil
	})
	far := errors.Is(err, errTruncated)
	if err != nil && !far {
		return nil, err
	}
	return map[string]any{
		"ok": missing == 0 && !far, "expected_count": items, "missing_record_count": missing,
		"missing_records": list, "missing_records_truncated": missing > len(list) || far,
	}, nil
}
