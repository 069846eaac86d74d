// Package browsertest opens pages in a real Chromium, for tests only. Its one rule: a page that writes an error to the
// console, violates its content security policy or asks another host fails the test, whatever else it tests.
package browsertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long an action may take, the start of the browser included.
const patience = 30 * time.Second

// Page is a tab with cookies and storage of its own. It belongs to one test and is not for several goroutines. A method
// that cannot do its work ends the test.
type Page struct {
	t       testing.TB
	tab     context.Context // chromedp finds the tab in it
	address string

	mu       sync.Mutex // guards what the browser's events write
	problems []string
	answers  map[network.RequestID]bool
	loaded   chan string // the names of files that were downloaded
	visits   string      // another website that the page may go to
}

// Visits allows the page to go to another website, a scheme and a host. Without it a request to another host is a
// problem.
func (p *Page) Visits(website string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visits = website
}

// Open opens a blank page of 1280 by 900 pixels. The address is a scheme and a host. When the test ends, the page
// reports its problems and closes.
func Open(t testing.TB, address string) *Page {
	t.Helper()
	p := &Page{t: t, address: address, answers: map[network.RequestID]bool{}, loaded: make(chan string, 1)}
	tab, closeTab := chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	p.tab = tab
	t.Cleanup(closeTab)
	if err := begin(tab, closeTab); err != nil {
		t.Fatalf("open a page: %v", err)
	}
	t.Cleanup(p.report)
	p.Size(1280, 900)
	p.Dark(false)
	return p
}

// Go opens a path and waits until the page and all that it needs are loaded. Any status will do.
func (p *Page) Go(path string) {
	p.t.Helper()
	run(p, "go to "+path, chromedp.Navigate(p.address+path))
}

// Click clicks the first visible element. Use WaitFor for what the click brings.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.WaitFor(selector)
	run(p, "click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Download clicks the first visible element, and returns the file that the browser downloads.
func (p *Page) Download(selector string) []byte {
	p.t.Helper()
	folder := p.t.TempDir()
	run(p, "allow downloads", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, protocol.SetDownloadBehavior, protocol.SetDownloadBehaviorParams{
			Behavior: protocol.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: folder, EventsEnabled: new(true),
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	}))
	p.Click(selector)
	select {
	case name := <-p.loaded:
		file, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			p.t.Fatal(err)
		}
		return file
	case <-time.After(patience):
		p.t.Fatalf("%s downloads nothing", selector)
	}
	return nil
}

// Type types text into a visible field, after what is there.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.WaitFor(selector)
	run(p, "type into "+selector, chromedp.SendKeys(chromedp.CSS(selector), text, chromedp.NodeVisible))
}

// Paste inserts a text into a field at once, where Type would press a thousand keys.
func (p *Page) Paste(selector, text string) {
	p.t.Helper()
	p.WaitFor(selector)
	run(p, "focus "+selector, chromedp.Focus(chromedp.CSS(selector), chromedp.NodeVisible))
	run(p, "paste into "+selector, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Backspace": kb.Backspace, "Home": kb.Home, "End": kb.End,
	"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown,
}

// Press presses keys one after the other, wherever the focus is: "j", "?", "Enter", "ArrowDown", "Shift+Tab", "Ctrl+k".
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		key, shift := strings.CutPrefix(name, "Shift+")
		key, ctrl := strings.CutPrefix(key, "Ctrl+")
		if code, is := keys[key]; is {
			key = code
		}
		modifier := kb.ModifierNone
		switch {
		case shift:
			modifier = kb.ModifierShift
		case ctrl:
			modifier = kb.ModifierCtrl
		}
		run(p, "press "+name, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			for _, event := range strokes(key, int64(modifier)) {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *event); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// strokes are the events of keys. A key types its character as it goes down, so that a page that prevents the one
// prevents the other.
func strokes(keys string, modifier int64) (events []*input.DispatchKeyEventParams) {
	for _, r := range keys {
		stroke := kb.Encode(r)
		for _, event := range stroke {
			event.Modifiers |= modifier
			if event.Type == kb.KeyChar && event.Modifiers&^int64(kb.ModifierShift) == 0 {
				stroke[0].Text, stroke[0].UnmodifiedText = event.Text, event.UnmodifiedText
			} else if event.Type != kb.KeyChar {
				events = append(events, event)
			}
		}
	}
	return events
}

// WaitFor waits until an element is there and visible and its page is loaded. Before that a click may miss what moves,
// and a shortcut is not listened to.
func (p *Page) WaitFor(selector string) {
	p.t.Helper()
	run(p, "wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
	run(p, "wait for the page of "+selector, chromedp.Evaluate[bool](
		"document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))",
		chromedp.EvalAwaitPromise))
}

// Text returns the text of the first element as it is shown. It waits for the element.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	p.WaitFor(selector)
	shown := fmt.Sprintf("document.querySelector(%q).innerText", selector)
	return run(p, "read "+selector, chromedp.Evaluate[string](shown))
}

// Count returns how many elements there are now.
func (p *Page) Count(selector string) (count int) {
	p.t.Helper()
	p.Eval(fmt.Sprintf("document.querySelectorAll(%q).length", selector), &count)
	return count
}

// URL returns the address that the browser shows.
func (p *Page) URL() string {
	p.t.Helper()
	return run(p, "read the address", chromedp.Location())
}

// Eval evaluates an expression of JavaScript, awaits it if it is a promise, and decodes its JSON into a pointer or nil.
// The content security policy does not hinder it.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	value := run(p, "evaluate "+expression[:min(80, len(expression))],
		chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	if into == nil {
		return
	}
	if err := json.Unmarshal(value, into); err != nil {
		p.t.Fatalf("evaluate %s: %v", expression, err)
	}
}

// Size sets the inner size of the window in CSS pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	run(p, "set the size", chromedp.EmulateViewport(int64(width), int64(height)))
}

func run[T any](p *Page, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.tab, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return value
}

// hear notes the problems among the browser's events.
func (p *Page) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		// An error page is an answer, too. A missing script or style sheet is not.
		p.answers[e.RequestID] = e.Type == network.ResourceTypeDocument || e.Type == network.ResourceTypeFetch
		if to, err := url.Parse(e.Request.URL); err != nil || to.Host != "" && !strings.HasSuffix(p.address, "//"+to.Host) &&
			(p.visits != to.Scheme+"://"+to.Host || e.Type != network.ResourceTypeDocument) {
			p.problems = append(p.problems, "request to another host: "+e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !p.answers[e.Entry.NetworkRequestID] {
			p.problems = append(p.problems, fmt.Sprintf("%s error: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *protocol.EventDownloadProgress:
		if e.State == protocol.DownloadProgressStateCompleted {
			p.loaded <- e.GUID
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			p.problems = append(p.problems, "console error: "+words(e.Args))
		}
	case *runtime.EventExceptionThrown:
		exception := &chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}
		p.problems = append(p.problems, exception.Error())
	}
}

func words(values []*runtime.RemoteObject) string {
	var text []string
	for _, v := range values {
		text = append(text, cmp.Or(v.Description, string(v.Value)))
	}
	return strings.Join(text, " ")
}

// report reports the problems of the page. An answer of the page comes after all that it said before.
func (p *Page) report() {
	p.Eval("0", nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range slices.Compact(p.problems) {
		p.t.Errorf("%s", problem)
	}
}
