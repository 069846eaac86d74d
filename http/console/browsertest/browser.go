package browsertest

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// shared is the browser of this process. It runs as long as a page is open.
var shared struct {
	sync.Mutex
	pages   int
	context context.Context
	stop    func()
}

// browser starts the browser for the first open page, and returns its context. It ends with the last open page.
func browser(t testing.TB) context.Context {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.pages == 0 {
		start(t)
	}
	shared.pages++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.pages--; shared.pages == 0 {
			shared.stop()
		}
	})
	return shared.context
}

func start(t testing.TB) {
	t.Helper()
	executable := os.Getenv("ANNALS_TEST_BROWSER")
	if executable == "" {
		t.Fatal("ANNALS_TEST_BROWSER is not set: run make test, or: scripts/browser.sh install && " +
			`export ANNALS_TEST_BROWSER="$(scripts/browser.sh path)"`)
	}
	allocator, free := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(executable),
		// The page under test is on this machine. The browser finds no other.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.Flag("no-proxy-server", true),
	)...)
	ctx, cancel := chromedp.NewContext(allocator)
	shared.context, shared.stop = ctx, func() { cancel(); free() }
	if err := begin(ctx, cancel); err != nil {
		shared.stop()
		t.Fatalf("%s does not start: %v", executable, err)
	}
}

// begin starts what a new context stands for. It lasts as long as the context, which therefore has no deadline.
func begin(ctx context.Context, cancel func()) error {
	deadline := time.AfterFunc(patience, cancel)
	defer deadline.Stop()
	return chromedp.Do(ctx)
}
