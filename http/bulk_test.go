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
	. "github.com/annals-kb/annals/http/servertest"
)

func TestOneBadLineNeverSpoilsTheOthers(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("same", "x")
		w.Remember("other", "y")
		got := w.Ask("POST", "/v1/knowledge", strings.Join([]string{
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
		}, "\n"), NDJSON).Want(http.StatusOK)
		want := []string{
			"a created", "b error 422", "<nil> error 400", "same unchanged", "other error 409", "<nil> error 400",
			"d error 422", "e error 422", "<nil> error 413", "a unchanged", "<nil> error 422", "h created", "<nil> error 400",
		}
		Same(t, got.Outcomes(), want)
		bad := got.Lines()[1]
		Like(t, bad, Object{"error": Object{"instance": Ending("#2"), "errors": Count(2)}})
		Same(t, got.Header.Get("Content-Type"), "application/x-ndjson")
	})
}

func TestAnArrayIsManyToo(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		got := w.Ask("POST", "/v1/knowledge", ` [ {"id":"a","type":"tool","content":"1, ]"} , 7, {"id":"b","type":"tool","content":"2"`).Want(http.StatusOK)
		want := []string{"a created", "<nil> error 422", "<nil> error 400"}
		Same(t, got.Outcomes(), want)
		w.Ask("GET", "/v1/knowledge/b", nil).Want(http.StatusNotFound)
	})
}

func TestManyCanReviseWhatIsThere(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		w.Remember("a", "one")
		got := w.Ask("POST", "/v1/knowledge?update=true", []Object{Item("a", "two"), Item("b", "new"), Item("a", "two")}).Want(http.StatusOK)
		want := []string{"a revised", "b created", "a unchanged"}
		Same(t, got.Outcomes(), want)
		Same(t, got.Lines()[0]["revision"], 2.0)
	})
}

func TestThousandsOfLinesAreAnsweredInOrder(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		const many = 1300
		var body strings.Builder
		var want []string
		for i := range many {
			fmt.Fprintf(&body, `{"id":"i%d","type":"tool","content":"number %d"}`+"\n", i, i)
			want = append(want, fmt.Sprintf("i%d created", i))
		}
		got := w.Ask("POST", "/v1/knowledge", body.String(), NDJSON).Want(http.StatusOK)
		Same(t, got.Outcomes(), want, len(got.Lines()), got.Outcomes()[:3])
		w.EndsAt(many)
	})
}

// conversation sends lines and reads the answers meanwhile.
type conversation struct {
	t       *testing.T
	out     *io.PipeWriter
	answers <-chan *json.Decoder
	in      *json.Decoder
}

func talkTo(w *World) *conversation {
	w.T.Helper()
	reader, writer := io.Pipe()
	answers := make(chan *json.Decoder, 1)
	go func() {
		defer close(answers)
		response, err := w.Client.Do(w.Request("POST", "/v1/knowledge", reader, NDJSON))
		if err != nil {
			w.T.Errorf("begin to send lines: %v", err)
			reader.CloseWithError(err)
			return
		}
		w.T.Cleanup(func() { response.Body.Close() })
		answers <- json.NewDecoder(response.Body)
	}()
	w.T.Cleanup(func() { writer.Close() })
	return &conversation{t: w.T, out: writer, answers: answers}
}

func (c *conversation) say(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.out, line); err != nil {
		c.t.Fatalf("say: %v", err)
	}
}

// hear reads the next answer; nothing at the end.
func (c *conversation) hear() (line Object) {
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
	Each(t, func(t *testing.T, w *World) {
		talk := talkTo(w)
		for _, id := range []string{"a", "b", "c"} {
			talk.say(`{"id":"` + id + `","type":"tool","content":"1"}`)
			Like(t, talk.hear(), Object{"id": id, "status": "created"})
		}
		talk.out.Close()
		Same(t, talk.hear(), nil, "after the last line")
	})
}

func TestABodyThatBreaksOffKeepsWhatWasWhole(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		conn := begin(w, "application/x-ndjson", `{"id":"a","type":"tool","content":"1"}`+"\n"+`{"id":"b","type":"tool","content":"2"}`)
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		Like(t, string(answer), Containing(`"id":"a","status":"created"`))
		Like(t, string(answer), Containing("the body ended too early"))
		w.Ask("GET", "/v1/knowledge/a", nil).Want(http.StatusOK)
		w.Ask("GET", "/v1/knowledge/b", nil).Want(http.StatusNotFound)
	})
}

func TestWhoeverPausesTooLongIsNotWaitedFor(t *testing.T) {
	EachWith(t, func(_ *World, c *Config) { c.Timeout = 3 * time.Second }, func(t *testing.T, w *World) {
		conn := begin(w, "application/x-ndjson", `{"id":"a","type":"tool","content":"1"}`+"\n")
		answer, _ := io.ReadAll(conn) // of half a body that is one item: see TestWhoeverSpeaksTooSlowlyIsDropped
		Like(t, string(answer), Containing(`"id":"a","status":"created"`))
		Like(t, string(answer), Containing("did not arrive in time"))
	})
}

// TestManyMayBeNone sends what a search of somebody else's that found nothing was turned into.
func TestManyMayBeNone(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for body, media := range map[string]Header{
			"": NDJSON, "\n \n": "Content-Type: application/x-ndjson; charset=utf-8", "[]": "Content-Type: application/json",
		} {
			Same(t, string(w.Ask("POST", "/v1/knowledge", body, media).Want(http.StatusOK).Body), "", body, media)
		}
		w.Ask("POST", "/v1/knowledge", "").Want(http.StatusBadRequest) // which is no item
	})
}

func TestManyItemsAreActedOnAtOnce(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.GivenTo("user:mia", admin, "team:pay")
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "hidden"} {
			k := Item(id, "x")
			if id != "hidden" {
				k["owner"], k["scopes"] = "team:pay", []string{"team:pay"}
			}
			w.Ask("POST", "/v1/knowledge", k, Bearer(admin)).Want(http.StatusCreated)
		}
		act := func(id, act string, more ...any) Object {
			o := Object{"id": id, "act": act}
			for i := 0; i+1 < len(more); i += 2 {
				o[more[i].(string)] = more[i+1]
			}
			return o
		}
		got := w.Ask("POST", "/v1/knowledge/acts", []Object{
			act("a", "confirm", "until", "2999-01-01T00:00:00Z", "reason", "checked"), act("b", "stale", "if_match", 1),
			act("c", "supersede", "by", "a"), act("d", "forget", "reason", "twice"), act("e", "helpful", "outcome", "ok"),
			act("hidden", "forget"), act("nowhere", "stale"), act("f", "stale", "if_match", 7), act("f", "polish"),
			act("f", "helpful", "reason", "x", "by", "a"), act("d", "restore"), act("c", "harmful"), act("f", "supersede"),
		}, mia).Want(http.StatusOK)
		Same(t, got.Outcomes(), []string{
			"a recorded", "b recorded", "c revised", "d revised", "e recorded", "hidden error 404", "nowhere error 404",
			"f error 412", "f error 422", "f error 422", "d revised", "c recorded", "f error 422",
		})
		Like(t, got.Lines()[5]["error"], Object{"title": got.Lines()[6]["error"].(Object)["title"]})
		Like(t, got.Lines()[9], Object{"error": Object{"errors": []any{
			Object{"field": "by", "message": "is not a field of helpful"}, Object{"field": "reason", "message": "is not a field of helpful"},
		}}})
		Like(t, got.Lines()[0]["receipt"], Count(1))
		Same(t, IDs(w.Ask("GET", "/v1/knowledge", nil, mia).Items()), []string{"f", "e", "d", "b", "a"})
		Like(t, w.Ask("GET", "/v1/knowledge/a", nil, mia).JSON(), Object{"confirm_until": "2999-01-01T00:00:00Z"})
		acted := w.Ask("POST", "/v1/knowledge/acts", `{"id":"a","act":"forget"}`+"\n"+`{"id":"a"`, NDJSON, mia).Want(http.StatusOK)
		Same(t, acted.Outcomes(), []string{"a revised", "<nil> error 400"})
		w.Ask("POST", "/v1/knowledge/acts", "a", "Content-Type: text/plain", mia).Want(http.StatusUnsupportedMediaType)
	})
}

func TestFingerprintsAreOfWhatTheCallerMaySee(t *testing.T) {
	EachWith(t, Keyed, func(t *testing.T, w *World) {
		admin := w.Admin()
		mia := w.GivenTo("user:mia", admin, "team:pay")
		for _, k := range []Object{
			Shared("a", "x", "team:pay", "team:pay"), Shared("b", "x", "team:pay", "team:pay", "user:mia"),
			Shared("gone", "x", "team:pay", "team:pay"), Item("hidden", "x"),
		} {
			w.Ask("POST", "/v1/knowledge", k, Bearer(admin)).Want(http.StatusCreated)
		}
		w.Ask("DELETE", "/v1/knowledge/gone", nil, mia).Want(http.StatusNoContent)
		ask := func(ids ...string) []Object {
			return w.Ask("POST", "/v1/knowledge/fingerprints", Object{"ids": ids}, mia).Want(http.StatusOK).Items()
		}
		all := ask("nowhere", "b", "hidden", "gone", "a", "not an id")
		Same(t, IDs(all), []string{"b", "gone", "a"})
		Same(t, all[1], Object{"id": "gone", "status": "deleted", "revision": 2.0})
		Like(t, all[2], Object{"scopes": []string{"team:pay"}, "owner": "team:pay", "revision": 1, "status": "active"})
		Same(t, all[0]["fingerprint"], all[2]["fingerprint"], "of items that say the same")
		w.Ask("PATCH", "/v1/knowledge/a", Object{"tags": Object{"domain": "y"}}, mia).Want(http.StatusOK)
		if revised := ask("a")[0]; revised["fingerprint"] == all[2]["fingerprint"] {
			t.Errorf("the tags are not in %v", revised)
		}
		Same(t, len(ask()), 0)
		many := w.Ask("POST", "/v1/knowledge/fingerprints", Object{"ids": make([]string, 501)}, mia)
		Like(t, many.Want(http.StatusUnprocessableEntity).Errors(), []string{"ids: must be at most 500"})
	})
}

// An export escapes each of these characters, so that its lines are six times as long as what they say.
func TestWhateverIsAcceptedIsOneLine(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for i, content := range []string{
			strings.Repeat("\x01", domain.MaxContent), "x" + strings.Repeat("\u2028", 21000),
		} {
			given := Item(fmt.Sprint("largest", i), content)
			given["task"], given["abstract"] = strings.Repeat("\x02", 2000), strings.Repeat("\x03", 4000)
			given["overview"] = strings.Repeat("\x04", 16000)
			w.Ask("POST", "/v1/knowledge", given).Want(http.StatusCreated)
			given["id"] = fmt.Sprint("again", i)
			line, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			got := w.Ask("POST", "/v1/knowledge", string(line)+"\n", NDJSON).Want(http.StatusOK).Lines()
			Same[any](t, Pick(got[0], "status"), "created", "the line", got[0])
		}
		w.Ask("POST", "/v1/knowledge", "\xff\xfe{\x00}\x00\n\x00", NDJSON).Want(http.StatusOK)
	})
}
