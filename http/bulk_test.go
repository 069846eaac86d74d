package http_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/servertest"
)

const ndjson = header("Content-Type: application/x-ndjson")

// outcomes are what became of each record: its id, its status, and the problem's status.
func outcomes(lines []object) []string {
	var all []string
	for _, line := range lines {
		outcome := fmt.Sprint(line["id"], " ", line["status"])
		if status := pick(line, "error", "status"); status != nil {
			outcome += fmt.Sprint(" ", status)
		}
		all = append(all, outcome)
	}
	return all
}

func TestOneBadLineNeverSpoilsTheOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("same", "x")
		w.remember("other", "y")
		got := w.ask("POST", "/v1/knowledge", strings.Join([]string{
			`{"id":"a","type":"tool","content":"1"}`,
			`{"id":"b","type":"hunch","content":"2","contnet":"3"}`,
			`not json`,
			``,
			`{"id":"same","type":"strategy","content":"x"}`,
			`{"id":"other","type":"strategy","content":"z"}`,
			"{\"id\":\"c\",\"content\":\"a\xffb\"}",
			`{"id":"d","type":"tool","content":"a\u0000b"}`,
			`{"id":"e","type":"tool","content":"` + strings.Repeat("x", 64<<10+1) + `"}`,
			`{"id":"f","type":"tool","content":"` + strings.Repeat("x", 1<<20) + `"}`,
			`{"id":"a","type":"tool","content":"1"}`,
			`[{"id":"g"}]`,
			`{"id":"h","type":"tool","content":"8"}`,
			`{"id":"half","type":"tool","cont`,
		}, "\n"), ndjson).want(http.StatusOK)
		want := []string{
			"a created", "b error 422", "<nil> error 400", "same unchanged", "other error 409", "<nil> error 400",
			"d error 422", "e error 422", "<nil> error 413", "a unchanged", "<nil> error 422", "h created", "<nil> error 400",
		}
		same(t, outcomes(got.lines()), want)
		bad := got.lines()[1]
		like(t, bad, object{"error": object{"instance": ending("#2"), "errors": count(2)}})
		same(t, got.header.Get("Content-Type"), "application/x-ndjson")
	})
}

func TestAnArrayIsManyToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		got := w.ask("POST", "/v1/knowledge", ` [ {"id":"a","type":"tool","content":"1, ]"} , 7, {"id":"b","type":"tool","content":"2"`).want(http.StatusOK)
		want := []string{"a created", "<nil> error 422", "<nil> error 400"}
		same(t, outcomes(got.lines()), want)
		w.ask("GET", "/v1/knowledge/b", nil).want(http.StatusNotFound)
	})
}

func TestManyCanReviseWhatIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.remember("a", "one")
		got := w.ask("POST", "/v1/knowledge?update=true", []object{item("a", "two"), item("b", "new"), item("a", "two")}).want(http.StatusOK)
		want := []string{"a revised", "b created", "a unchanged"}
		same(t, outcomes(got.lines()), want)
		same(t, got.lines()[0]["revision"], 2.0)
	})
}

func TestThousandsOfLinesAreAnsweredInOrder(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const many = 1300
		var body strings.Builder
		var want []string
		for i := range many {
			fmt.Fprintf(&body, `{"id":"i%d","type":"tool","content":"number %d"}`+"\n", i, i)
			want = append(want, fmt.Sprintf("i%d created", i))
		}
		got := w.ask("POST", "/v1/knowledge", body.String(), ndjson).want(http.StatusOK)
		same(t, outcomes(got.lines()), want, len(got.lines()), outcomes(got.lines())[:3])
		w.logEndsAt(many)
	})
}

// conversation sends lines and reads the answers meanwhile.
type conversation struct {
	t       *testing.T
	out     *io.PipeWriter
	answers <-chan *json.Decoder
	in      *json.Decoder
}

func (w *world) converse() *conversation {
	w.t.Helper()
	reader, writer := io.Pipe()
	answers := make(chan *json.Decoder, 1)
	go func() {
		defer close(answers)
		response, err := w.client.Do(w.request("POST", "/v1/knowledge", reader, ndjson))
		if err != nil {
			w.t.Errorf("begin to send lines: %v", err)
			reader.CloseWithError(err)
			return
		}
		w.t.Cleanup(func() { response.Body.Close() })
		answers <- json.NewDecoder(response.Body)
	}()
	w.t.Cleanup(func() { writer.Close() })
	return &conversation{t: w.t, out: writer, answers: answers}
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.out, line); err != nil {
		c.t.Fatalf("say: %v", err)
	}
}

// hear reads the next answer; nothing at the end.
func (c *conversation) hear() (line object) {
	c.t.Helper()
	if c.in == nil {
		if c.in = <-c.answers; c.in == nil {
			c.t.FailNow()
		}
	}
	if err := c.in.Decode(&line); err != nil && !errors.Is(err, io.EOF) {
		c.t.Fatalf("hear: %v", err)
	}
	return line
}

func TestALineIsAnsweredBeforeTheNextIsSent(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		talk := w.converse()
		for _, id := range []string{"a", "b", "c"} {
			talk.say(`{"id":"` + id + `","type":"tool","content":"1"}`)
			like(t, talk.hear(), object{"id": id, "status": "created"})
		}
		talk.out.Close()
		same(t, talk.hear(), nil, "after the last line")
	})
}

func TestABodyThatBreaksOffKeepsWhatWasWhole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		conn := w.begin("application/x-ndjson", `{"id":"a","type":"tool","content":"1"}`+"\n"+`{"id":"b","type":"tool","content":"2"}`)
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		like(t, string(answer), containing(`"id":"a","status":"created"`))
		like(t, string(answer), containing("the body ended too early"))
		w.ask("GET", "/v1/knowledge/a", nil).want(http.StatusOK)
		w.ask("GET", "/v1/knowledge/b", nil).want(http.StatusNotFound)
	})
}

func TestWhoeverPausesTooLongIsNotWaitedFor(t *testing.T) {
	eachWith(t, func(c *servertest.Config) { c.Timeout = 500 * time.Millisecond }, func(t *testing.T, w *world) {
		conn := w.begin("application/x-ndjson", `{"id":"a","type":"tool","content":"1"}`+"\n")
		answer, _ := io.ReadAll(conn) // of half a body that is one item: see TestWhoeverSpeaksTooSlowlyIsDropped
		like(t, string(answer), containing(`"id":"a","status":"created"`))
		like(t, string(answer), containing("did not arrive in time"))
	})
}

// TestManyMayBeNone sends what a search of somebody else's that found nothing was turned into.
func TestManyMayBeNone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for body, media := range map[string]header{
			"": "Content-Type: application/x-ndjson", "\n \n": "Content-Type: application/x-ndjson; charset=utf-8", "[]": "Content-Type: application/json",
		} {
			same(t, string(w.ask("POST", "/v1/knowledge", body, media).want(http.StatusOK).body), "", body, media)
		}
		w.ask("POST", "/v1/knowledge", "").want(http.StatusBadRequest) // which is no item
	})
}

func TestManyItemsAreActedOnAtOnce(t *testing.T) {
	eachKeyed(t, func(t *testing.T, w *world, _ *time.Duration) {
		admin := w.given("", object{"subject": "user:olga", "role": "admin"})
		mia := bearer(w.given(admin, object{"subject": "user:mia", "memberships": []string{"team:pay"}}))
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "hidden"} {
			k := item(id, "x")
			if id != "hidden" {
				k["owner"], k["scopes"] = "team:pay", []string{"team:pay"}
			}
			w.ask("POST", "/v1/knowledge", k, bearer(admin)).want(http.StatusCreated)
		}
		act := func(id, act string, more ...any) object {
			o := object{"id": id, "act": act}
			for i := 0; i+1 < len(more); i += 2 {
				o[more[i].(string)] = more[i+1]
			}
			return o
		}
		got := w.ask("POST", "/v1/knowledge/acts", []object{
			act("a", "confirm", "until", "2999-01-01T00:00:00Z", "reason", "checked"), act("b", "stale", "if_match", 1),
			act("c", "supersede", "by", "a"), act("d", "forget", "reason", "twice"), act("e", "helpful", "outcome", "ok"),
			act("hidden", "forget"), act("nowhere", "stale"), act("f", "stale", "if_match", 7), act("f", "polish"),
			act("f", "helpful", "reason", "x", "by", "a"), act("d", "restore"), act("c", "harmful"), act("f", "supersede"),
		}, mia).want(http.StatusOK)
		same(t, outcomes(got.lines()), []string{
			"a recorded", "b recorded", "c revised", "d revised", "e recorded", "hidden error 404", "nowhere error 404",
			"f error 412", "f error 422", "f error 422", "d revised", "c recorded", "f error 422",
		})
		like(t, got.lines()[5]["error"], object{"title": got.lines()[6]["error"].(object)["title"]})
		like(t, got.lines()[9], object{"error": object{"errors": []any{
			object{"field": "by", "message": "is not a field of helpful"}, object{"field": "reason", "message": "is not a field of helpful"},
		}}})
		like(t, got.lines()[0]["receipt"], count(1))
		same(t, ids(w.ask("GET", "/v1/knowledge", nil, mia).items()), []string{"f", "e", "d", "b", "a"})
		like(t, w.ask("GET", "/v1/knowledge/a", nil, mia).json(), object{"confirm_until": "2999-01-01T00:00:00Z"})
		lines := w.ask("POST", "/v1/knowledge/acts", `{"id":"a","act":"forget"}`+"\n"+`{"id":"a"`, ndjson, mia).want(http.StatusOK).lines()
		same(t, outcomes(lines), []string{"a revised", "<nil> error 400"})
		w.ask("POST", "/v1/knowledge/acts", "a", "Content-Type: text/plain", mia).want(http.StatusUnsupportedMediaType)
	})
}

// An export escapes each of these characters, so that its lines are six times as long as what they say.
func TestWhateverIsAcceptedIsOneLine(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i, content := range []string{
			strings.Repeat("\x01", domain.MaxContent), "x" + strings.Repeat("\u2028", 21000),
		} {
			given := item(fmt.Sprint("largest", i), content)
			given["task"], given["abstract"] = strings.Repeat("\x02", 2000), strings.Repeat("\x03", 4000)
			given["overview"] = strings.Repeat("\x04", 16000)
			w.ask("POST", "/v1/knowledge", given).want(http.StatusCreated)
			given["id"] = fmt.Sprint("again", i)
			line, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			got := w.ask("POST", "/v1/knowledge", string(line)+"\n", ndjson).want(http.StatusOK).lines()
			same[any](t, pick(got[0], "status"), "created", "the line", got[0])
		}
		w.ask("POST", "/v1/knowledge", "\xff\xfe{\x00}\x00\n\x00", ndjson).want(http.StatusOK)
	})
}

func TestManyLessonsAreForThoseForWhomOneIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		lesson := func(id string) object {
			return object{"id": id, "type": "tool", "category": "tools", "content": "Retry a failed upload twice."}
		}
		w.ask("POST", "/v1/knowledge?lesson=true", lesson("one")).want(http.StatusCreated)
		w.ask("POST", "/v1/knowledge?lesson=true", []any{lesson("many")}).want(http.StatusOK)
		one, many := w.ask("GET", "/v1/knowledge/one", nil).json(), w.ask("GET", "/v1/knowledge/many", nil).json()
		same(t, one["scopes"].([]any)[0], any("public"))
		same(t, many["scopes"], one["scopes"])
		w.ask("POST", "/v1/knowledge?lesson=perhaps", []any{lesson("no")}).want(http.StatusUnprocessableEntity)
	})
}
