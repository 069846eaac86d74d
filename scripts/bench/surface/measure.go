package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
	"github.com/annals-kb/annals/viking"
)

func measure(ctx context.Context, engine database.Engine, o options, r *report) error {
	return bench.Afresh(ctx, engine, r.Engines, func(db *database.DB) error { return measureOn(ctx, db, o, r) })
}

func measureOn(ctx context.Context, db *database.DB, o options, r *report) (err error) {
	base, err := projections.Open(ctx, db, projections.Settings{})
	if err != nil {
		return err
	}
	log := events.NewLog(db, base, events.Options{})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	past, err := projections.OpenPast(ctx, base, log)
	if err != nil {
		return err
	}
	reader := projections.Reader{Knowledge: base, Past: past, Progress: log}
	surface := viking.New(viking.Config{Writer: log, Reader: reader, Files: events.NewFiles(log), Sessions: projections.Sessions{Log: log}})
	paths, public := viking.Paths()
	web := httptest.NewServer(annalshttp.New(annalshttp.Config{
		Writer: log, Historian: log, Reader: reader, Reporter: projections.Reports{Knowledge: base, Log: log}, Keys: projections.NewKeys(db, log),
		Logger: slog.New(slog.DiscardHandler),
		Mounts: []annalshttp.Mount{{Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse, As: viking.As}},
	}).Handler())
	defer web.Close()
	for from, to := 0, o.items/10; from < o.items; from, to = to, o.items {
		if err := fill(ctx, log, base, from, to); err != nil {
			return err
		}
		found, err := ask(ctx, web.URL, o)
		if err != nil {
			return err
		}
		found.Engine, found.Items = db.Engine.String(), to
		r.Asked = append(r.Asked, found)
	}
	return nil
}

// What items and questions are about: so many words that most questions have a few good answers.
var (
	things = []string{"gateway", "invoice", "dashboard", "crawler", "scheduler", "cache", "replica", "browser", "report", "ledger", "queue", "mailer"}
	deeds  = []string{"retries", "loses", "renders", "locks", "drops", "duplicates", "compresses", "forgets", "signs", "splits"}
	causes = []string{"a slow disk", "an old driver", "a full heap", "daylight saving time", "a missing index", "a proxy", "an expired key", "large headers"}
)

func about(n int) string {
	return fmt.Sprintf("The %s %s what it was given because of %s", things[n%len(things)], deeds[n/7%len(deeds)], causes[n/31%len(causes)])
}

func fill(ctx context.Context, log *events.Log, base *projections.Knowledge, from, to int) error {
	bar := bench.Watch("remembering", to-from)
	for begin := from; begin < to; begin += 500 {
		var some []domain.Submission
		for n := begin; n < min(begin+500, to); n++ {
			by := domain.OpenPrincipal()
			command, err := domain.Remember{By: by, ID: fmt.Sprint("item-", n), Knowledge: domain.Remembered{
				Type: domain.Strategy, Category: domain.CategoryPatterns, Owner: by.Subject, Scopes: []domain.Scope{domain.Public},
				Text: domain.Text{Content: fmt.Sprintf("%s, as seen in run %d. Pin the version, then look at host-%d.", about(n), n, n%977)},
			}}.Complete()
			if err != nil {
				return err
			}
			some = append(some, domain.Submission{Command: command, By: by})
		}
		for _, result := range log.SubmitAll(ctx, some) {
			if result.Err != nil {
				return result.Err
			}
		}
		bar.Add(len(some))
	}
	bar.End()
	bar = bench.Watch("understanding", to-from)
	defer bar.End()
	return bench.Understand(ctx, log, base.Meaning(), bar, domain.DefaultTenant)
}

// ask asks every question of both, in turn: now of the one first, and now of the other.
func ask(ctx context.Context, url string, o options) (a asked, err error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var search, find []time.Duration
	var ratios []float64
	for round := -1; round < o.rounds; round++ { // the first is not counted
		for n := range o.asked {
			question := fmt.Sprintf(`{"query":%q,"limit":10}`, "Why does "+strings.ToLower(about(n * 37)[:1])+about(n * 37)[1:]+"?")
			var took [2]time.Duration
			for i := range took {
				which := (i + round + n) & 1
				if took[which], err = post(ctx, client, url+[]string{"/v1/search", "/api/v1/search/find"}[which], question); err != nil {
					return a, err
				}
			}
			if round >= 0 {
				search, find = append(search, took[0]), append(find, took[1])
				ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
			}
		}
	}
	slices.Sort(ratios)
	ofSearch, ofFind := bench.SpreadOf(search), bench.SpreadOf(find)
	return asked{
		Questions: len(search), Search: bench.Milliseconds(ofSearch.P50), SearchP95: bench.Milliseconds(ofSearch.P95),
		Find: bench.Milliseconds(ofFind.P50), FindP95: bench.Milliseconds(ofFind.P95), Ratio: math.Round(ratios[len(ratios)/2]*100) / 100,
	}, nil
}

func post(ctx context.Context, client *http.Client, url, body string) (took time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	began := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	answer, err := io.ReadAll(response.Body)
	took = time.Since(began)
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %.300s", url, response.StatusCode, answer)
	}
	return took, err
}
