package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/http/servertest"
)

var updateExamples = flag.Bool("update-examples", false, "write the examples of the API's descriptions")

// step is a request of the story that the examples tell, and what the description says of it.
type step struct {
	Name    string            `json:"name"`              // the operation, or the route
	Summary string            `json:"summary,omitempty"` // of a route
	Request string            `json:"request"`           // method and path; {name} stands for a value that was saved
	As      string            `json:"as,omitempty"`      // who asks: key:AS is the key; default: the root key
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // a string is sent as it is
	Status  int               `json:"status,omitempty"`
	Until   string            `json:"until,omitempty"`  // ask again until the answer has this text
	Save    map[string]string `json:"save,omitempty"`   // name: path of a value in the answer, as in items.0.id
	Hidden  bool              `json:"hidden,omitempty"` // needed for the story, and no example
	Varies  bool              `json:"varies,omitempty"` // not every answer has the same fields
}

// example is a step with its answer.
type example struct {
	Name    string          `json:"name"`
	Summary string          `json:"summary,omitempty"`
	Request string          `json:"request"`
	Type    string          `json:"type,omitempty"` // of the body, if it is not JSON
	Body    json.RawMessage `json:"body,omitempty"`
	Status  int             `json:"status"`
	Answers string          `json:"answers,omitempty"` // the media type of the answer
	Answer  json.RawMessage `json:"answer,omitempty"`  // JSON, or a string
}

const rootKey = "0123456789abcdef0123456789abcdef"

// The examples in the descriptions of the API are what a server really answered, on both engines.
func TestTheExamplesAreWhatAServerAnswers(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine database.Engine, newDatabase func(testing.TB) string) {
		data := t.TempDir()
		url := startServer(t, data, []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + data, "DATABASE_URL=" + newDatabase(t),
			"ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA=" + data, "ANNALS_ROOT_KEY=" + rootKey,
		})
		update := *updateExamples && engine == database.SQLite
		tell(t, url, "testdata/examples.json", "../../http/examples.json", update)
		tell(t, url, "testdata/openviking.json", "../../http/viking/examples.json", update)
	})
}

const again = "go test ./cmd/annals -run Examples -update-examples"

// tell asks everything that a story has, and compares what is answered with what is described.
func tell(t *testing.T, url, story, reportOf string, update bool) {
	t.Helper()
	var steps []step
	read(t, story, &steps)
	recorded := map[string]example{}
	if !update {
		var all []example
		read(t, reportOf, &all)
		for _, e := range all {
			recorded[e.Name] = e
		}
	}
	saved, got := map[string]string{}, []example{}
	for _, s := range steps {
		e, answer := s.ask(t, url, saved)
		if s.Hidden {
			continue
		}
		got = append(got, e)
		if want := recorded[e.Name]; !update && !s.Varies && (want.Status != e.Status || want.Answers != e.Answers) {
			t.Errorf("%s: described as %d %s, is %d %s", e.Name, want.Status, want.Answers, e.Status, e.Answers)
		} else if !update && !s.Varies && e.Answers == "application/json" {
			var before any
			_ = json.Unmarshal(want.Answer, &before)
			servertest.Same(t, fields(answer), fields(before), e.Name, "is described otherwise: "+again)
		}
	}
	if !update {
		return
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(got); err != nil {
		t.Fatal(err)
	}
	directory := regexp.MustCompile(`(/[^/" ]+)*/TestTheExamples[^/" ]*/\d+`) // of this test
	described := directory.ReplaceAllString(out.String(), "/var/lib/annals")
	if err := os.WriteFile(reportOf, []byte(described), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// ask sends a step's request. A status that was not expected ends the test.
func (s step) ask(t *testing.T, url string, saved map[string]string) (example, any) {
	t.Helper()
	fill := func(text string) string {
		for name, value := range saved {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
		return text
	}
	e := example{Name: s.Name, Summary: s.Summary, Request: fill(s.Request), Body: json.RawMessage(fill(string(s.Body)))}
	method, path, _ := strings.Cut(e.Request, " ")
	sent := string(e.Body)
	if strings.HasPrefix(sent, `"`) {
		_ = json.Unmarshal(e.Body, &sent)
	}
	headers := map[string]string{"X-API-Key": cmp.Or(saved["key:"+s.As], rootKey)}
	if sent != "" {
		headers["Content-Type"] = "application/json"
	}
	for name, value := range s.Headers {
		headers[name] = fill(value)
	}
	if e.Type = headers["Content-Type"]; e.Type == "application/json" {
		e.Type = ""
	}
	var body []byte
	databasetest.Until(t, e.Request+" says "+s.Until, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(sent))
		if err != nil {
			t.Fatalf("%s: %v", e.Request, err)
		}
		for name, value := range headers {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatalf("%s: %v", e.Request, err)
		}
		body, err = io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("%s: %v", e.Request, err)
		}
		_ = response.Body.Close()
		e.Status = response.StatusCode
		e.Answers, _, _ = strings.Cut(response.Header.Get("Content-Type"), ";")
		return strings.Contains(string(body), s.Until)
	})
	if want := s.Status; want == 0 && e.Status >= 300 && (!s.Varies || e.Status >= 500) ||
		want != 0 && e.Status != want {
		t.Errorf("%s: %d %s", e.Request, e.Status, body)
	}
	var answer any
	if strings.HasSuffix(e.Answers, "json") && json.Unmarshal(body, &answer) == nil {
		e.Answer = body
	} else if len(body) > 0 {
		e.Answer, _ = json.Marshal(string(body))
	}
	if e.Answers == "application/x-ndjson" { // the first line is example enough
		e.Answer, _, _ = bytes.Cut(body, []byte("\n"))
	}
	for name, path := range s.Save {
		value := answer
		for part := range strings.SplitSeq(path, ".") {
			switch v := value.(type) {
			case map[string]any:
				value = v[part]
			case []any:
				if len(v) == 0 {
					t.Fatalf("%s: no %s in %s", e.Request, path, body)
				}
				value = v[0]
			}
		}
		saved[name] = fmt.Sprint(value)
		if strings.HasPrefix(name, "key:") {
			e.Answer = bytes.ReplaceAll(e.Answer, []byte(saved[name]), []byte("annals_EXAMPLE_KEY"))
		}
	}
	return e, answer
}

// fields are the names of all fields in an answer, as in items[].id.
func fields(answer any) []string {
	found := map[string]bool{}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		found[at] = true
		switch v := value.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(at+"."+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(at+"[]", inner)
			}
		}
	}
	walk("", answer)
	return slices.Sorted(maps.Keys(found))
}
