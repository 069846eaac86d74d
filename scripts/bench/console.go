package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"
)

// console measures the pages of the console: how long the server takes for them, and when a slow machine shows them.
type console struct {
	settings
	Items    int    `help:"Items." default:"20000"`
	Receipts int    `help:"Answers before, each with a receipt." default:"100000"`
	Browser  string `help:"Chrome or Chromium. Empty measures no browser." env:"ANNALS_TEST_BROWSER"`
}

// consolePages are the pages that are measured.
var consolePages = []struct{ name, path string }{
	{"Home", "/console/"},
	{"Knowledge", "/console/knowledge"},
	{"Scopes", "/console/scopes"},
	{"Search", "/console/search?q=staging"},
	{"Team", "/console/teams/team:t1"},
}

// slowed is how many times slower the browser's processor is.
const slowed = 4

// Run implements the command.
func (b *console) Run(ctx context.Context) error {
	items := newAuthor(1).items(b.Items)
	return b.run(ctx, "console", func(ctx context.Context, s *session) error {
		prepare := func(server *server) error {
			if err := s.load(ctx, server, "", items); err != nil {
				return err
			}
			return b.ask(ctx, server)
		}
		return s.withServers(ctx, nil, prepare, func(servers []*server) error {
			return inTurn(s.Rounds, servers, func(server *server) error {
				for _, page := range consolePages {
					if err := s.load20(ctx, server, page.name, page.path); err != nil {
						return err
					}
				}
				if b.Browser == "" {
					return nil
				}
				return s.paint(ctx, server, b.Browser)
			})
		})
	})
}

// ask has eight clients ask until there are so many receipts: one in ten is for a search, the others for an item that
// it found.
func (b *console) ask(ctx context.Context, server *server) error {
	var asked atomic.Int64
	asking, ctx := errgroup.WithContext(ctx)
	for range 8 {
		asking.Go(func() error {
			var found answer
			for n := asked.Add(1); n <= int64(b.Receipts); n = asked.Add(1) {
				var err error
				if of := len(found.ids); of == 0 || n%10 == 0 {
					found, err = server.search(ctx, map[string]any{"query": word(int(n) % 5000), "limit": 9})
				} else {
					err = server.get(ctx, "/v1/knowledge/"+found.ids[int(n)%of], nil)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return asking.Wait()
}

// load20 loads a page twenty times, after once.
func (s *session) load20(ctx context.Context, server *server, name, path string) error {
	var times []time.Duration
	for range 21 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server.address+path, http.NoBody)
		if err != nil {
			return err
		}
		began := time.Now()
		answer, err := server.client.Do(r)
		if err != nil {
			return err
		}
		times = append(times, time.Since(began))
		if err := answer.Body.Close(); err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %d", path, answer.StatusCode)
		}
	}
	s.addTimes(server.program.name, name, times[1:], 0.95)
	return nil
}

// paint opens Home in a new browser on a slow processor, and then again.
func (s *session) paint(ctx context.Context, server *server, executable string) error {
	folder, err := os.MkdirTemp(s.dir, "browser-")
	if err != nil {
		return err
	}
	allocator, free := chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(executable), chromedp.UserDataDir(folder), chromedp.Flag("no-proxy-server", true))...)
	defer free()
	tab, end := chromedp.NewContext(allocator)
	defer end()
	slow := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: slowed})
		return err
	})
	if _, err := chromedp.Run(tab, slow); err != nil {
		return err
	}
	home := url.URL{Scheme: "http", Host: server.address, Path: "/console/"}
	for _, name := range []string{"cold", "warm"} {
		if _, err := chromedp.Run(tab, chromedp.Navigate(home.String())); err != nil {
			return err
		}
		at, err := chromedp.Run(tab, chromedp.Evaluate[float64](`new Promise((done) => new PerformanceObserver((list) => {
			for (const paint of list.getEntriesByName("first-contentful-paint")) done(paint.startTime);
		}).observe({ type: "paint", buffered: true }))`, chromedp.EvalAwaitPromise))
		if err != nil {
			return err
		}
		s.add(server.program.name, fmt.Sprintf("Home, first paint, %s, processor %d times slower", name, slowed), "ms", at)
	}
	return nil
}
