package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
)

// canary is in the id, the text and the traces of each item that is hidden, and in the reason of each reference to it.
const canary = "canary"

// Public items refer to private ones in every way. Whatever a stranger reads, on any surface, names none of these.
func TestHiddenStaysHidden(t *testing.T) {
	eachEngine(t, func(t *testing.T, _ database.Engine, newDatabase func(testing.TB) string) {
		data := t.TempDir()
		r := &reading{t: t, client: http.DefaultClient, server: startServer(t, data, []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + data, "DATABASE_URL=" + newDatabase(t),
			"ANNALS_LISTEN=127.0.0.1:0", "ANNALS_DATA=" + data, "ANNALS_ROOT_KEY=" + rootKey, "ANNALS_REVIEW=off",
		})}
		keys := map[string]string{}
		for _, name := range []string{"mia", "ben", "olga"} {
			asked := map[string]any{"subject": "user:" + name, "publish_public": true, "role": "member"}
			if name == "olga" {
				asked["role"] = "admin"
			}
			keys[name] = r.as(rootKey).write("POST", "/v1/keys", asked)["key"].(string)
		}
		mia := r.as(keys["mia"])
		seen := mia.refer()
		hidden := []string{canary}
		for id := range maps.Keys(seen) {
			for _, e := range mia.list("/v1/knowledge/" + strings.Replace(id, "seen", canary, 1) + "/history") {
				hidden = append(hidden, e["event_id"].(string))
			}
		}

		for _, everything := range []bool{true, false} { // the first shows that there is something to find
			who := keys["ben"]
			if everything {
				who = keys["olga"]
			}
			got := r.as(who).everywhere(seen)
			for what, body := range got {
				for _, word := range hidden {
					if at := bytes.Index(body, []byte(word)); !everything && at >= 0 {
						t.Errorf("%s tells %s: …%s…", what, word, body[max(0, at-200):min(len(body), at+100)])
					}
				}
			}
			if says := []byte("1 that you may not see"); !everything && !bytes.Contains(got["/console/k/seen-carried"], says) {
				t.Errorf("a merge says nothing of what it took in:\n%s", got["/console/k/seen-carried"])
			}
			if all := bytes.Join(slices.Collect(maps.Values(got)), nil); everything {
				for id := range seen {
					if !bytes.Contains(all, []byte(strings.Replace(id, "seen", canary, 1))) {
						t.Errorf("nothing tells an admin to what %s refers", id)
					}
				}
			}
		}
		for _, word := range []string{"canary", "canary-merged", "because"} { // a search of the log is no way round
			if found := r.as(keys["ben"]).list("/v1/events?q=" + word); len(found) > 0 {
				t.Errorf("the log has %s: %v", word, found)
			}
			_, followed := r.as(keys["ben"]).ask("GET", "/v1/events?after=0&q="+word, nil, "Accept: text/event-stream")
			if bytes.Contains(followed, []byte("data:")) {
				t.Errorf("a feed has %s: %s", word, followed)
			}
		}
	})
}

// reading asks a server as somebody.
type reading struct {
	t      *testing.T
	server string
	key    string
	client *http.Client
}

func (r *reading) as(key string) *reading {
	return &reading{t: r.t, server: r.server, key: key, client: r.client}
}

func (r *reading) ask(method, path string, body any, headers ...string) (status int, answer []byte) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case url.Values:
		sent, headers = strings.NewReader(b.Encode()), append(headers, "Content-Type: application/x-www-form-urlencoded")
	default:
		written, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		sent, headers = bytes.NewReader(written), append(headers, "Content-Type: application/json")
	}
	request, err := http.NewRequestWithContext(ctx, method, r.server+path, sent)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.client == http.DefaultClient {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") && strings.HasPrefix(path, "/v1") {
		time.AfterFunc(time.Second, cancel) // it never ends
	}
	answer, _ = io.ReadAll(response.Body)
	return response.StatusCode, answer
}

func (r *reading) write(method, path string, body any) (made map[string]any) {
	r.t.Helper()
	status, answer := r.ask(method, path, body)
	if status >= 300 {
		r.t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	_ = json.Unmarshal(answer, &made)
	return made
}

func (r *reading) list(path string) (items []map[string]any) {
	r.t.Helper()
	status, answer := r.ask("GET", path, nil)
	var page struct{ Items []map[string]any }
	if err := json.Unmarshal(answer, &page); err != nil || status != http.StatusOK {
		r.t.Fatalf("%s: %d %v %s", path, status, err, answer)
	}
	return page.Items
}

// refer writes a public item and a private one for each kind of reference. It returns the events of the public ones.
func (r *reading) refer() (seen map[string][]string) {
	seen = map[string][]string{}
	post := func(path string, body map[string]any) { r.write("POST", "/v1/knowledge/"+path, body) }
	because := canary + " because"
	for kind, refer := range map[string]func(ours, theirs string){
		"related": func(ours, theirs string) {
			post(ours+"/relations", map[string]any{"to": []string{theirs}, "reason": because})
		},
		"unrelated": func(ours, theirs string) {
			post(ours+"/relations", map[string]any{"to": []string{theirs}, "reason": because})
			r.write("DELETE", "/v1/knowledge/"+ours+"/relations/"+theirs, nil)
		},
		"superseded": func(ours, theirs string) {
			post(ours+"/supersede", map[string]any{"by": theirs, "reason": because})
		},
		"carried": func(ours, theirs string) {
			post(ours+"/merge", map[string]any{
				"items": []string{theirs}, "carry_votes": true, "reason": because, "content": "seen as carried, in other words",
			})
		},
		"undone": func(ours, theirs string) {
			post(ours+"/merge", map[string]any{"items": []string{theirs}, "carry_votes": true, "reason": because})
			post(ours+"/unmerge", map[string]any{"reason": because})
		},
		"disputed": func(ours, theirs string) {
			r.write("POST", "/v1/reviews/proposals", map[string]any{
				"kind": "contradiction", "items": []string{ours, theirs}, "reason": because,
			})
		},
		"between": func(ours, theirs string) { // a hidden one between two that are not
			r.write("POST", "/v1/knowledge", map[string]any{
				"id": "seen-below", "type": "tool", "content": "seen below", "scopes": []string{"public"},
			})
			post(theirs+"/merge", map[string]any{"items": []string{"seen-below"}, "reason": because})
			post(ours+"/merge", map[string]any{"items": []string{theirs}, "carry_votes": true, "reason": because})
		},
	} {
		ours, theirs := "seen-"+kind, canary+"-"+kind
		r.write("POST", "/v1/knowledge", map[string]any{
			"id": ours, "type": "tool", "task": "seen by all", "content": "seen as " + kind, "scopes": []string{"public"},
		})
		r.write("POST", "/v1/knowledge", map[string]any{
			"id": theirs, "type": "tool", "task": canary, "content": theirs, "scopes": []string{"user:mia"},
		})
		post(theirs+"/feedback", map[string]any{"verdict": "helpful", "trace_id": theirs, "query": canary, "outcome": canary})
		refer(ours, theirs)
		for _, e := range r.list("/v1/knowledge/" + ours + "/history") {
			seen[ours] = append(seen[ours], e["event_id"].(string))
		}
	}
	return seen
}

// everywhere asks every route that reads, on all surfaces, about the public items, and returns what they answer.
func (r *reading) everywhere(seen map[string][]string) map[string][]byte {
	r.t.Helper()
	got := map[string][]byte{}
	read := func(method, path string, body any, headers ...string) int {
		status, answer := r.ask(method, path, body, headers...)
		if status >= http.StatusInternalServerError && !bytes.Contains(answer, []byte("behind")) {
			r.t.Errorf("%s %s: %d %s", method, path, status, answer)
		}
		if got[fmt.Sprint(method, " ", path, " ", body, headers)] = answer; bytes.Contains(answer, []byte(`"isError":true`)) {
			r.t.Errorf("%v: %s", body, answer)
		}
		return status
	}
	ids := slices.Sorted(maps.Keys(seen))
	head := r.list("/v1/events?order=desc&limit=1")[0]["position"]

	_, described := r.ask("GET", "/openapi.json", nil)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
			}
		}
	}
	if err := json.Unmarshal(described, &doc); err != nil || len(doc.Paths) < 50 {
		r.t.Fatalf("%v: %d paths", err, len(doc.Paths))
	}
	for path, operations := range doc.Paths {
		operation, reads := operations["get"]
		if !reads || path == "/metrics" || strings.Contains(path, "pprof") || strings.HasSuffix(path, "profile") {
			continue
		}
		places := []string{path}
		switch {
		case strings.HasPrefix(path, "/v1/knowledge/{id}"):
			places = nil
			for _, id := range ids {
				places = append(places, strings.ReplaceAll(path, "{id}", id))
			}
		case strings.Contains(path, "{event_id}"):
			places = nil
			for _, events := range seen {
				for _, id := range events {
					places = append(places, strings.ReplaceAll(path, "{event_id}", id))
				}
			}
		}
		asked, past := url.Values{}, false
		for _, p := range operation.Parameters {
			switch past = past || p.Name == "as_of"; p.Name {
			case "diff":
				asked.Set("diff", "true")
			case "limit":
				asked.Set("limit", "100")
			case "status":
				asked.Set("status", "active,superseded")
			}
			if p.Required && p.In == "query" {
				asked.Set(p.Name, map[string]string{
					"scope": "public", "id": ids[0], "from": "1", "of": ids[0], "uri": "viking://",
				}[p.Name])
			}
		}
		if strings.HasSuffix(path, "/reports/changes") {
			asked.Set("scope", "public")
		}
		worked := 0
		for _, place := range places {
			if asked.Has("id") || asked.Has("of") {
				for _, id := range ids {
					asked.Set("id", id)
					read("GET", place+"?"+asked.Encode(), nil)
				}
			}
			for _, media := range []string{"application/json", "application/x-ndjson", "text/csv", "text/event-stream", "text/markdown"} {
				if status := read("GET", place+"?"+asked.Encode(), nil, "Accept: "+media, "Last-Event-ID: "); status == http.StatusOK {
					worked++
				}
				if media == "text/event-stream" && strings.HasPrefix(place, "/v1/events") {
					read("GET", place+"?after=0", nil, "Accept: "+media)
				}
			}
			if past {
				then := maps.Clone(asked)
				then.Set("as_of", fmt.Sprint(head))
				read("GET", place+"?"+then.Encode(), nil)
			}
		}
		if worked == 0 && strings.HasPrefix(path, "/v1/knowledge") {
			r.t.Errorf("%s answers nothing: %s", path, got["GET "+places[0]+"?"+asked.Encode()+" <nil>[Accept: application/json Last-Event-ID: ]"])
		}
	}
	for _, more := range []map[string]any{
		{}, {"explain": true, "order": "score"}, {"as_of": fmt.Sprint(head)}, {"include_superseded": true}, {"facets": true},
	} {
		more["query"] = "seen by all"
		read("POST", "/v1/search", more)
	}
	for stage, field := range map[string]string{"start": "task", "focus": "goal", "query": "query"} {
		read("POST", "/v1/context", map[string]any{"stage": stage, field: "seen by all"})
	}
	for _, id := range ids { // writes that answer with the item, or refuse
		read("POST", "/v1/knowledge/"+id+"/feedback", map[string]any{"verdict": "helpful", "trace_id": "own"})
		read("POST", "/v1/knowledge/"+id+"/stale", map[string]any{"reason": "old"})
		read("POST", "/v1/knowledge", map[string]any{"id": "own-" + id, "type": "tool", "content": "seen by ben " + id})
		read("POST", "/v1/knowledge/own-"+id+"/supersede", map[string]any{"by": id})
		read("POST", "/v1/knowledge/own-"+id+"/merge", map[string]any{"items": []string{id}})
		read("POST", "/v1/reviews/proposals", map[string]any{"kind": "duplicate", "items": []string{id, "own-" + id}})
		uri := url.QueryEscape("viking://agent/memories/tools/" + id + ".md")
		for _, path := range []string{"relations", "content/read", "content/abstract", "content/overview", "fs/stat", "fs/ls", "fs/tree"} {
			read("GET", "/api/v1/"+path+"?uri="+uri, nil)
		}
	}
	read("POST", "/api/v1/search/find", map[string]any{"query": "seen by all", "limit": 50})
	read("POST", "/api/v1/search/search", map[string]any{"query": "seen by all", "limit": 50})
	r.byTools(ids, read)
	r.inBrowser(ids, got)
	return got
}

// byTools calls each tool that reads.
func (r *reading) byTools(ids []string, read func(method, path string, body any, headers ...string) int) {
	r.t.Helper()
	call := func(tool string, arguments map[string]any) {
		asked := map[string]any{
			"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
		}
		answer := read("POST", "/mcp", asked, "Accept: application/json, text/event-stream")
		if answer != http.StatusOK {
			r.t.Errorf("%s %v: %d", tool, arguments, answer)
		}
	}
	for _, id := range ids {
		call("get_knowledge", map[string]any{"uri": id})
		call("memory_history", map[string]any{"uri": id})
	}
	call("retrieve_memory", map[string]any{"query": "seen by all", "limit": 50})
	call("review_queue", map[string]any{})
	call("memory_status", map[string]any{})
}

var link = regexp.MustCompile(`href="(/console/[^"#]*)`)

// inBrowser follows the links of the console.
func (r *reading) inBrowser(ids []string, got map[string][]byte) {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	browser := &reading{t: r.t, server: r.server, client: &http.Client{Jar: jar}}
	if status, answer := browser.ask("POST", "/console/login", url.Values{"key": {r.key}}); status != http.StatusOK {
		r.t.Fatalf("log in: %d %s", status, answer)
	}
	pages := []string{"/console/"}
	for _, id := range ids {
		for _, below := range []string{"", "/history", "/lineage"} {
			pages = append(pages, "/console/knowledge/"+id+below)
		}
	}
	for i := 0; i < len(pages) && i < 200; i++ {
		status, answer := browser.ask("GET", pages[i], nil)
		if status >= http.StatusInternalServerError {
			r.t.Errorf("%s: %d", pages[i], status)
		}
		got[pages[i]] = answer
		for _, found := range link.FindAllSubmatch(answer, -1) {
			next := strings.ReplaceAll(string(found[1]), "&amp;", "&")
			if !slices.Contains(pages, next) && !strings.Contains(next, "logout") && !strings.Contains(next, "assets") {
				pages = append(pages, next)
			}
		}
	}
}
