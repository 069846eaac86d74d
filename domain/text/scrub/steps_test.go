package scrub

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// mostSteps is how often a byte may be looked at. It does not depend on the text's length.
const mostSteps = 1000

// repeats are texts that are slow to scrub if what lies ahead of every repetition is read again.
var repeats = []string{
	"sk-", "sk-ant-", "sk-proj-", "sk--", "-sk", "sk-1a2b", "sk-a8Kd92Lmf83Jsk29Dkfj38Sl ", "eyJ-", "eyJ.",
	"eyJ0000000000.", "eyJ-.", "xapp-1-", "xoxb-a-", "SG.",
	"SG.aaaaaaaaaaaaaaaa-", "glpat-", "AKLT-", "whsec_+", "ark-", "hooks.slack.com/services/T", "Bearer ",
	"bearer\t", "Basic ", "basic YTph ", "-", "-----", "-----BEGIN ",
	"-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\\n", "-----END ", "-----END PRIVATE KEY-----",
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n-----END PRIVATE KEY-----", "A1\n", "A1\\n", "@", "a@", "a@b.", "a@b.co,",
	"%40", "a://@", "a://A:A@", "://", "token=", "password:", "=", ":",
	"y:", "api_key=a1", "密码：", "+1", "+", "(", "1", "1-", "1 ", "/1", "212-555-0147--eyJ--", "212-555-0147--sk-a-",
	"4111 1111 1111 1111 ", "[REDACTED_", "[REDACTED_EMAIL]", "\\n", "q", "aq",
}

func scrubbers(t testing.TB) []*Scrubber {
	var all []*Scrubber
	for _, patterns := range [][]Pattern{nil, {
		{"short", `q$`}, {"ahead", `q[^z]*z|q`}, {"word", `\bq\b`}, {"nothing", `\b`}, {"rest", `a[^z]*`},
	}} {
		for _, off := range [][]Class{nil, {PrivateKey, JWT, Email}} {
			s, err := New(off, patterns)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
	return all
}

// fewSteps fails if a text takes more steps than its length allows.
func fewSteps(t *testing.T, s *Scrubber, text string) {
	t.Helper()
	w := scrubbing{Scrubber: s, ctx: t.Context()}
	if _, _, err := w.scrub(text); err != nil {
		t.Fatal(err)
	}
	if most := mostSteps * (len(text) + 100); w.steps > most {
		t.Errorf("%.40q… of %d bytes took %d steps, want at most %d", text, len(text), w.steps, most)
	}
}

func TestStepsAreLinearInTheLength(t *testing.T) {
	t.Parallel()
	for _, s := range scrubbers(t) {
		for _, repeat := range repeats {
			for _, tail := range []string{"", "_"} {
				fewSteps(t, s, strings.Repeat(repeat, 1<<12/len(repeat))+tail)
			}
		}
	}
}

func FuzzSteps(f *testing.F) {
	for i, repeat := range repeats {
		f.Add("", repeat, repeats[(i+7)%len(repeats)], uint16(len(repeat)))
	}
	all := scrubbers(f)
	f.Fuzz(func(t *testing.T, before, repeat, after string, times uint16) {
		for _, s := range all {
			fewSteps(t, s, before+strings.Repeat(repeat, min(int(times), 1<<16/(len(repeat)+1)))+after)
		}
	})
}

func TestScrubbingStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := scrubbing{Scrubber: scrubbers(t)[0], ctx: &ending{Context: ctx, cancel: cancel, after: 2}}
	text := strings.Repeat("sk-ant- a@b.co ", 1<<18)
	if clean, found, err := w.scrub(text); !errors.Is(err, context.Canceled) || clean != "" || found != nil {
		t.Errorf("got %d bytes, %v and %v, want only that the context has ended", len(clean), found, err)
	}
	if w.steps > 4*stepsAtOnce {
		t.Errorf("got %d steps after the context ended, want at most %d", w.steps, 4*stepsAtOnce)
	}
}

// ending ends when it is asked a second time.
type ending struct {
	context.Context
	cancel context.CancelFunc
	after  int
}

func (e *ending) Err() error {
	if e.after--; e.after <= 0 {
		e.cancel()
	}
	return e.Context.Err()
}
