package console_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/servertest"
)

// elements are the elements of a page that a test accepts.
func elements(t *testing.T, page string, accepts func(*html.Node) bool) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var found []*html.Node
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && accepts(node) {
			found = append(found, node)
		}
	}
	return found
}

// named are the elements of a page with a name; class may be empty.
func named(t *testing.T, page, name, class string) []*html.Node {
	t.Helper()
	return elements(t, page, func(n *html.Node) bool {
		return n.Data == name && (class == "" || strings.HasPrefix(attribute(n, "class"), class))
	})
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// said is the text of an element.
func said(n *html.Node) string {
	var text strings.Builder
	for node := range n.Descendants() {
		if node.Type == html.TextNode {
			text.WriteString(node.Data)
		}
	}
	return text.String()
}

// browse is a client that keeps cookies.
func browse(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// send sends a form, as a browser without scripts does, and follows the redirect.
func (w *world) send(browser *http.Client, path string, values ...string) (int, string) {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		form.Add(values[i], values[i+1])
	}
	status, _, body := servertest.Send(w.t, browser, servertest.Request(w.t, http.MethodPost, w.url+path, form.Encode(),
		"Content-Type: application/x-www-form-urlencoded"))
	return status, string(body)
}

// revision is the revision that a form is for.
func revision(t *testing.T, page string) string {
	t.Helper()
	for _, input := range named(t, page, "input", "") {
		if attribute(input, "name") == "revision" {
			return attribute(input, "value")
		}
	}
	t.Fatalf("no revision in:\n%s", page)
	return ""
}

func TestAnItemShowsHowItCameToBe(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		for _, path := range []string{"", "?order=asc", "/compare", "/blame", "/use", "/raw"} {
			status, page := w.ask("/console/k/staging" + path)
			if headings := named(t, page, "h1", ""); status != http.StatusOK || len(headings) != 1 ||
				said(headings[0]) != "Where is staging?" {
				t.Fatalf("%s: %d\n%s", path, status, page)
			}
			if asked := strings.Count(page, "<code>curl "); asked < 2 || asked > 5 { // and who the caller is
				t.Errorf("%s makes %d requests", path, asked)
			}
		}
		_, page := w.ask("/console/k/staging")
		containsAll(t, page, "found helpful", "reported stale", "revised", "the schedule changed", "found it", "/console/log/")
		added, removed := named(t, page, "ins", ""), named(t, page, "del", "")
		if len(added) == 0 || len(removed) == 0 || said(added[0]) != "+morning" || said(removed[0]) != "−night" {
			t.Errorf("%d added, %d removed in:\n%s", len(added), len(removed), page)
		}
		if !regexp.MustCompile(`(?s)revised.*reported stale.*remembered`).MatchString(page) {
			t.Error("the newest event is not first")
		}
		if status, _ := w.ask("/console/k/staging/nowhere"); status != http.StatusNotFound {
			t.Errorf("an unknown tab: %d", status)
		}
	})
}

func TestBlameShowsTheContentWithTheEventsThatWroteIt(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		events := map[string]string{}
		for event, err := range w.api.History(t.Context(), "staging") {
			if err != nil {
				t.Fatal(err)
			}
			events["/console/log/"+event.EventID] = event.Name
		}
		_, page := w.ask("/console/k/staging/blame")
		links, words := named(t, page, "a", "entry"), named(t, page, "td", "said")
		var wrote []string
		for i := range min(len(links), len(words)) {
			wrote = append(wrote, events[attribute(links[i], "href")]+" "+said(words[i]))
		}
		want := "knowledge.remembered The staging database is rebuilt every |knowledge.revised morning|knowledge.remembered ."
		if got := strings.Join(wrote, "|"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestTheUseOfAnItemHasItsVotesAndReports(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/k/staging/use")
		containsAll(t, page, "where is staging", "found it", "it moved")
		_, page = w.ask("/console/k/staging")
		containsAll(t, page, "75 %", "38 %")
	})
}

func TestThePastHasNoActsAndNothingThatCameLater(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell() // remembered, another, helpful, stale, revised
		for _, path := range []string{"", "/blame", "/use", "/compare"} {
			status, page := w.ask("/console/k/staging" + path + "?as_of=3")
			if status != http.StatusOK || strings.Contains(page, "/act/") || strings.Contains(page, "morning") ||
				!strings.Contains(page, "every night") {
				t.Errorf("%s: %d\n%s", path, status, page)
			}
		}
		if _, page := w.ask("/console/k/staging"); !strings.Contains(page, "/act/revise") {
			t.Error("now there are no acts")
		}
		status, page := w.send(browse(t), "/console/k/staging/act/forget?as_of=3", "revision", "1")
		if k, err := w.api.Knowledge(t.Context(), "staging"); status != http.StatusConflict || err != nil || k.Revision != 2 {
			t.Errorf("%d %v\n%s", status, err, page)
		}
		if status, _ := w.ask("/console/k/staging?as_of=9999"); status != http.StatusOK && status != http.StatusUnprocessableEntity {
			t.Errorf("beyond the log: %d", status)
		}
	})
}

func TestAHiddenItemIsLikeNone(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		mia, _ := w.given("user:mia")
		bob, _ := w.given("user:bob")
		if _, err := w.as(mia).Remember(t.Context(), client.Knowledge{ID: "hers", Type: "tool", Content: "secret"}); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]int{mia: http.StatusOK, bob: http.StatusNotFound} {
			browser := browse(t)
			w.send(browser, "/console/login", "key", key)
			for _, path := range []string{"", "/blame", "/use", "/compare", "/raw", "/act/revise", "/act/forget"} {
				status, _, page := servertest.Send(t, browser, servertest.Request[string](t, http.MethodGet, w.url+"/console/k/hers"+path, nil))
				if status != want || strings.Contains(string(page), "secret") && want != http.StatusOK {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
			}
			if status, _ := w.send(browser, "/console/k/hers/act/helpful", "revision", "1"); status != want {
				t.Errorf("a vote: %d, want %d", status, want)
			}
		}
	})
}

func TestWhatAgentsWroteStaysTextInAnItem(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		const text = "</textarea></title><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) \u202egnp.exe"
		k := hostileKnowledge(text)
		k.ID = "evil"
		w.remember(k)
		if _, err := w.api.GiveFeedback(t.Context(), "evil", client.Vote{Verdict: "helpful", Query: text, Outcome: text}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"", "/compare?from=1&to=1", "/blame", "/use", "/raw", "/act/revise", "/act/helpful"} {
			status, page := w.ask("/console/k/evil" + path)
			if status != http.StatusOK {
				t.Errorf("%s: %d", path, status)
			}
			for _, bad := range elements(t, page, isDangerous) {
				t.Errorf("%s has <%s %v>", path, bad.Data, bad.Attr)
			}
			if path != "/raw" && !strings.Contains(said(named(t, page, "main", "")[0]), "<script>alert(1)</script>") {
				t.Errorf("%s does not show what was written", path)
			}
		}
	})
}

// isChoice tells whether an element is one of several choices.
func isChoice(n *html.Node) bool { return attribute(n, "type") == "radio" }

// isDangerous tells whether an element runs something or leads out of the console.
func isDangerous(n *html.Node) bool {
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(value, "javascript:") && a.Key != "value" ||
			(a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(value, "/") && value[:1] != "#" {
			return true
		}
	}
	return n.Data == "script" && attribute(n, "src") == ""
}

func TestReadersActOnAnItem(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		browser := browse(t)
		for _, c := range []struct {
			act    string
			values []string
			status int
			shows  []string
		}{
			{"harmful", []string{"query", "where", "outcome", "wrong host"}, 200, []string{"Your vote is recorded.", "wrong host"}},
			{"stale", []string{"reason", "it moved again"}, 200, []string{"Your report is recorded.", "it moved again"}},
			{"confirm", []string{"days", "30", "reason", "checked"}, 200, []string{"It is confirmed.", "checked"}},
			{"confirm", []string{"days", "soon"}, 422, []string{"Choose how long it holds."}},
			{"supersede", []string{"by", "nothing"}, 422, []string{"no such knowledge"}},
			{"supersede", []string{"by", "language", "reason", "newer"}, 200, []string{"It is superseded.", `href="/console/k/language"`}},
			{"restore", []string{"reason", "too early"}, 200, []string{"It is restored.", "too early"}},
			{"forget", []string{"reason", "obsolete"}, 410, []string{"It is forgotten.", "Where is staging?</h1>", "obsolete"}},
			{"restore", nil, 200, []string{"It is restored."}},
		} {
			asked, form := w.ask("/console/k/staging/act/" + c.act)
			if asked != http.StatusOK {
				t.Fatalf("%s: %d\n%s", c.act, asked, form)
			}
			status, page := w.send(browser, "/console/k/staging/act/"+c.act, append(c.values, "revision", revision(t, form))...)
			if status != c.status {
				t.Errorf("%s: %d, want %d", c.act, status, c.status)
			}
			containsAll(t, page, c.shows...)
		}
		_, _, again := servertest.Send(t, browser, servertest.Request[string](t, http.MethodGet, w.url+"/console/k/staging", nil))
		if strings.Contains(string(again), "It is restored.") {
			t.Error("what was done is told twice")
		}
		for _, act := range []string{"restore", "release"} { // it is not forgotten, and not on hold
			if status, _ := w.ask("/console/k/staging/act/" + act); status != http.StatusConflict {
				t.Errorf("%s has a form: %d", act, status)
			}
		}
	})
}

func TestARevisionIsShownBeforeItIsSaved(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		const path, content = "/console/k/staging/act/revise", "The staging database\r\nis rebuilt every evening."
		_, form := w.ask(path)
		seen := revision(t, form)
		status, page := w.send(browse(t), path, "revision", seen, "content", content, "reason", "changed again")
		added := named(t, page, "ins", "")
		if status != http.StatusOK || len(added) == 0 || said(added[len(added)-1]) != "+evening" {
			t.Fatalf("%d\n%s", status, page)
		}
		if k, err := w.api.Knowledge(t.Context(), "staging"); err != nil || strings.Contains(k.Content, "evening") {
			t.Fatalf("the preview saved %q, %v", k.Content, err)
		}
		if status, page := w.send(browse(t), path, "revision", seen); status != http.StatusUnprocessableEntity {
			t.Errorf("without a change: %d\n%s", status, page)
		}
		status, page = w.send(browse(t), path, "revision", seen, "content", content, "reason", "changed again", "step", "save")
		k, err := w.api.Knowledge(t.Context(), "staging")
		if status != http.StatusOK || err != nil || k.Content != strings.ReplaceAll(content, "\r", "") || k.Task == "" {
			t.Fatalf("%d %v %+v\n%s", status, err, k, page)
		}
		status, page = w.send(browse(t), path, "revision", seen, "content", "It is never rebuilt.", "step", "save")
		if status != http.StatusPreconditionFailed || revision(t, page) != strconv.FormatInt(k.Revision, 10) {
			t.Fatalf("an earlier revision: %d\n%s", status, page)
		}
		containsAll(t, page, "revised in the meantime", "changed again", "evening", "It is never rebuilt.", "Save my version")
		if now, err := w.api.Knowledge(t.Context(), "staging"); err != nil || now.Revision != k.Revision {
			t.Errorf("%v, revision %d", err, now.Revision)
		}
	})
}

func TestAnErasedItemIsATombstone(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		status, _, body := servertest.Send(t, http.DefaultClient, servertest.Request[string](t, http.MethodDelete,
			w.url+"/v1/knowledge/staging?erase=true", nil))
		if status != http.StatusOK && status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
		status, page := w.ask("/console/k/staging")
		if status != http.StatusGone || strings.Contains(page, "rebuilt") || strings.Contains(page, "/act/") {
			t.Errorf("%d\n%s", status, page)
		}
		containsAll(t, page, "An erased item</h1>", "Its text was erased.", "just now")
	})
}

func TestAnItemCountsTheVotesOfOthersAndIsForgottenInOneWord(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		_, page := w.ask("/console/k/staging")
		containsAll(t, page, "1 helpful, 0 harmful") // as annals get says
		_, page = w.ask("/console/k/language")
		containsAll(t, page, "no votes yet")
		if err := w.api.Forget(t.Context(), "language", "old"); err != nil {
			t.Fatal(err)
		}
		_, page = w.ask("/console/k/language")
		timeline := said(named(t, page, "ol", "timeline")[0])
		if !strings.Contains(timeline, "forgotten") || strings.Contains(timeline, "deleted") {
			t.Errorf("the history says:\n%s", timeline)
		}
	})
}

func TestASearchShowsPercentagesWithTheirExactValues(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.tell()
		w.remember(client.Knowledge{ID: "weak", Type: "tool", Content: "The theatre keeps its curtains behind the staging, next to the lamps and ropes."})
		_, page := w.ask("/console/search?q=staging&expect=language")
		for _, node := range elements(t, page, func(n *html.Node) bool { return attribute(n, "class") == "n" && n.Data == "span" }) {
			exact, err := strconv.ParseFloat(attribute(node, "title"), 64)
			if want := strconv.FormatFloat(100*exact, 'f', 0, 64) + " %"; err == nil && said(node) != want {
				t.Errorf("%v is shown as %q", exact, said(node))
			}
		}
		if regexp.MustCompile(`>[^<]*\d\.\d{4}`).MatchString(page) {
			t.Errorf("a number is not rounded in:\n%s", page)
		}
		_, page = w.ask("/console/search?q=staging&type=definition&expect=weak")
		if !regexp.MustCompile(`Its score is \d+ %\. The least score is \d+ %\. Its weight is \d+ %\.`).MatchString(page) {
			t.Errorf("the page does not compare scores:\n%s", said(named(t, page, "main", "")[0]))
		}
	})
}

func TestWhatIsOnlyNearStandsBelowALine(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.printers()
		const known, unknown = "deploy+window", "who+repairs+the+printer+of+the+wallet+team+when+it+is+jammed"
		for _, c := range []struct{ language, question, want string }{
			{"en", known, "sure Perhaps: perhaps"},
			{"zh", known, "sure 可能相关： perhaps"},
			{"en", unknown, "Nobody has written this down. Perhaps: perhaps"},
			{"zh", unknown, "没有人写下过这个。 可能相关： perhaps"},
		} {
			_, shown := w.ask("/console/search?q="+c.question, "Accept-Language: "+c.language)
			var got []string
			for _, title := range elements(t, shown, func(n *html.Node) bool { return n.Data == "h2" && attribute(n.Parent, "class") == "empty unwritten" }) {
				got = append(got, said(title))
			}
			for _, li := range elements(t, shown, func(n *html.Node) bool { return n.Data == "li" && attribute(n.Parent, "class") == "hits" }) {
				if class := attribute(li, "class"); class == "band" {
					got = append(got, said(li))
				} else {
					got = append(got, class)
				}
			}
			if got := strings.Join(slices.Compact(got), " "); got != c.want {
				t.Errorf("%s: got %q, want %q", c.question, got, c.want)
			}
		}
	})
}
