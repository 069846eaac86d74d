package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/console/browsertest"
)

// recorder collects the errors of a test, and lets the test that made it say when it ends.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

// end ends the recorded test and returns its errors.
func (r *recorder) end() string {
	for i := range r.cleanups {
		r.cleanups[len(r.cleanups)-1-i]()
	}
	return strings.Join(r.errors, "\n")
}

const page = `<!doctype html><html lang="en"><head><title>A page</title><link rel="icon" href="data:,">
<style>@media (prefers-color-scheme: dark) { p::after { content: " in the dark" } }</style>
<script>function greet(name) { document.querySelector("h1").textContent = "Hello, " + name }</script></head>
<body><main data-path="%s"><h1>Hello</h1><form action="/greeted"><label for="name">Name</label>
<input id="name" name="name" oninput="greet(this.value)"><button>Greet</button></form><p>Words</p>%s</main></body></html>`

// serve serves the page with more content, under a policy if there is one.
func serve(t *testing.T, policy, content string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = fmt.Fprintf(w, page, r.URL.Path, content)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAProblemOfAPageFailsItsTest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ problem, policy, content, want string }{
		{"nothing", "", "", ""},
		{"an inline script under a policy", "script-src 'self'", "", "security error"},
		{
			"text as a script under Trusted Types", "require-trusted-types-for 'script'",
			`<script>document.body.innerHTML = "<i>"</script>`, "TrustedHTML",
		},
		{"an error in the console", "", `<script>console.error("it is", 3, "o'clock")</script>`, `"it is" 3 "o'clock"`},
		{"an exception", "", `<script>null.x</script>`, "TypeError"},
		{"a rejected promise", "", `<script>Promise.reject(new Error("broken"))</script>`, "broken"},
		{"a script that is missing", "", `<script src="/missing"></script>`, "404"},
		{"an image from elsewhere", "", `<img alt="" src="http://elsewhere.example/x.png">`, "another host: http://elsewhere"},
		{"a blocked image from elsewhere", "img-src data:", `<img alt="" src="http://elsewhere.example/x.png">`, "img-src"},
		{"a field without a label", "", `<input>`, "axe at http"},
	} {
		t.Run(c.problem, func(t *testing.T) {
			t.Parallel()
			recorded := &recorder{TB: t}
			p := browsertest.Open(recorded, serve(t, c.policy, c.content))
			p.Go("/")
			p.Axe()
			got := recorded.end()
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("the test of a page with %s says %q, want %q in it", c.problem, got, c.want)
			}
		})
	}
}
