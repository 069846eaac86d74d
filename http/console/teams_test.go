package console_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// teach lets Mia write about three subjects for her team, and others judge it. It returns her key.
func (w *world) teach() (mia string) {
	w.t.Helper()
	w.staff()
	mia, _ = w.given("user:mia")
	for id, k := range map[string]client.Knowledge{
		"topics":   {Task: "How long topics live", Content: "Kafka keeps its topics for seven days.", Tags: client.Tags{"labels": {"kafka"}}},
		"offsets":  {Task: "Who commits offsets", Content: "Kafka consumers commit their offsets by hand.", Tags: client.Tags{"labels": {"kafka"}}},
		"invoices": {Task: "When invoices are printed", Content: "Invoices are printed on Fridays.", Tags: client.Tags{"labels": {"billing"}}},
	} {
		k.ID, k.Type, k.Scopes = id, "tool", []string{"team:pay"}
		must(w.as(mia).Remember(w.t.Context(), k))(w.t)
	}
	must(w.api.GiveFeedback(w.t.Context(), "topics", client.Vote{Verdict: "helpful"}))(w.t)
	must(w.api.ReportStale(w.t.Context(), "invoices", "it moved"))(w.t)
	return mia
}

// enter logs in, and opens a page.
func (h *hand) enter(key, path string) {
	h.t.Helper()
	h.Type("#key", key)
	h.Press("Enter")
	h.WaitFor(".top .find")
	h.Go(path)
}

// What a team learnt in a week takes a click from the page with its link. It fits on a screen, names people and titles
// only, and is posted with a click.
func TestTheWeekOfATeamFitsOnAScreen(t *testing.T) {
	onEachScreen(t, rootKey, func(w *world, h *hand) {
		h.enter(w.teach(), "/console/people")
		h.use(`main a[href="/console/teams/team:pay"]`)
		h.WaitFor(".heat")
		h.took(1)
		h.says("h1", "Payments", "Payments")
		h.says(".week", "The team learnt 3 things this week:", "本周团队学到 3 条：")
		h.says(".week", "1 item was found harmful, stale or disputed: When invoices are printed", "1 个条目被判有害、过时或有矛盾： When invoices are printed")
		h.says(".week .todo", "When invoices are printed", "When invoices are printed")
		h.says(".heat", "米娅 Mia", "米娅 Mia")
		h.says(".heat", "alone", "独自")
		if shown := h.Text(".week") + h.Text(".heat"); strings.Contains(shown, "user:") || strings.Contains(shown, "team:") {
			h.t.Errorf("an id is shown:\n%s", shown)
		}
		var wide, high int
		h.Eval("innerWidth", &wide)
		h.Eval("document.documentElement.scrollHeight", &high)
		if wide == 1280 && high > 900 {
			h.t.Errorf("the page is %d pixels high", high)
		}
		h.use(".week summary.button")
		h.WaitFor("details[open] #post")
		var posted string
		h.Eval(`document.querySelector("#post").value`, &posted)
		containsAll(h.t, posted, "# Payments", "[How long topics live]")
	})
}

// Who knows about a subject takes one search. The page of the person says what they may be asked.
func TestASearchFindsWhomToAsk(t *testing.T) {
	onEachScreen(t, rootKey, func(w *world, h *hand) {
		h.enter(w.teach(), "/console/people")
		h.fill("main input[name=q]", "Kafka")
		h.key("Enter")
		h.WaitFor("main ul.todo a.entry")
		h.took(1)
		h.says("main ul.todo", "米娅 Mia", "米娅 Mia")
		h.says("main ul.todo", "wrote 2 · confirmed 0 · thanked 1 times", "写过 2 条 · 确认过 0 条 · 被感谢 1 次")
		h.use("main ul.todo a.entry")
		h.WaitFor("dl.facts")
		h.says("main", "What they may be asked", "可以问此人什么")
		h.says("main table.list", "kafka", "kafka")
	})
}

// An admin invites a colleague by name and address with two clicks. The colleague has a name, and reads what the team
// uses most after two more.
func TestAColleagueIsInvitedByNameAndAddress(t *testing.T) {
	onEachScreen(t, rootKey, func(w *world, h *hand) {
		w.teach()
		h.enter(rootKey, "/console/people")
		h.use(`main a[href="/console/access/invite"]`)
		h.WaitFor("#subject")
		h.says("main", "Mia.Chen@example.com becomes user:mia.chen", "Mia.Chen@example.com 成为 user:mia.chen")
		h.fill("#display_name", "Nora Li")
		h.fill("#subject", "Nora.Li+work@example.com")
		h.fill("#memberships", "Payments")
		h.use("main form[method=post] button")
		h.WaitFor("#link")
		h.took(3)
		var nora api.Member
		must(w.api.Do(h.t.Context(), client.Get("v1", "directory", "user:nora.li-work"), &nora))(h.t)
		if nora.DisplayName != "Nora Li" || len(nora.Groups) == 0 || nora.Groups[0].Group != "team:pay" {
			h.t.Errorf("she is %+v", nora)
		}
		var link string
		h.Eval(`document.querySelector("#link").value`, &link)
		h.clicks = 0
		h.Go(strings.TrimPrefix(link, w.url))
		h.WaitFor("main button[name=accept]")
		if strings.Contains(h.URL(), "annals_") {
			h.t.Errorf("the code is in the address: %s", h.URL())
		}
		h.Axe()
		h.use("main form[method=post] button")
		h.WaitFor("#key")
		containsAll(h.t, h.Text("pre"), "annals install --server "+w.url+" --api-key annals_")
		h.use(`main a[href="/console/teams?begin=yes"]`)
		h.WaitFor("ol.read")
		h.took(2)
		h.says("ol.read", "How long topics live", "How long topics live")
		h.says(".heat", "米娅 Mia", "米娅 Mia")
	})
}

// What the key cannot have is refused before the person is in the directory.
func TestAnInvitationThatIsRefusedAddsNobody(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		root := w.login(rootKey)
		for field, value := range map[string]string{"memberships": "nobody knows it", "lasts": "for an hour", "role": "queen"} {
			form := map[string]string{"display_name": "Nora", "subject": "nora@example.com", "role": "member", "lasts": "for a week"}
			form["shown"], form[field] = time.Now().Add(-2*time.Hour).UTC().Format(time.RFC3339), value
			var values []string
			for name, value := range form {
				values = append(values, name, value)
			}
			status, page := w.send(root, "/console/access/invite", values...)
			if status != http.StatusUnprocessableEntity || valueOf(t, page, "display_name") != "Nora" {
				t.Errorf("%s: %d\n%s", field, status, page)
			}
			containsAll(t, page, `id="`+field+`-wrong"`)
			if _, err := w.api.Do(t.Context(), client.Get("v1", "directory", "user:nora"), nil); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("%s: she is in the directory: %v", field, err)
			}
		}
	})
}

func TestAnInvitationNeedsANameAndNobodyElsesId(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		root := w.login(rootKey)
		const path = "/console/access/invite"
		for want, form := range map[string][]string{
			`id="display_name-wrong"`:    {"subject", "nora@example.com", "role", "member", "lasts", "for a week"},
			"user:mia is 米娅 Mia already": {"display_name", "Mia Other", "subject", "mia@example.com", "role", "member", "lasts", "for a week"},
			`id="subject-wrong"`:         {"display_name", "Nora", "subject", "@", "role", "member", "lasts", "for a week"},
		} {
			status, page := w.send(root, path, form...)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%v: %d", form, status)
			}
			containsAll(t, page, want)
		}
		if status, page := w.send(root, path, "subject", "mia", "role", "member", "lasts", "for a week"); status != http.StatusCreated {
			t.Errorf("who has a name needs no other: %d\n%s", status, page)
		}
	})
}

// Who leaves shows what hangs on them. Each subject has an heir, who gets what was owned about it.
func TestEachSubjectOfALeaverHasAnHeir(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.teach()
		zoe := "Zoë"
		put := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", "user:zoe"}, Body: api.NewMember{DisplayName: &zoe}}
		must(w.api.Do(t.Context(), put, nil))(t)
		key, _ := w.given("user:zoe")
		join := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", "user:zoe", "groups", "team:pay"}, Body: api.NewMembership{Role: "member"}}
		must(w.api.Do(t.Context(), join, nil))(t)
		must(w.as(key).Remember(t.Context(), client.Knowledge{
			ID: "disk", Type: "tool", Content: "Kafka needs a lot of disk.", Scopes: []string{"team:pay"}, Tags: client.Tags{"labels": {"kafka"}},
		}))(t)
		root := w.login(rootKey)
		_, page := w.visit(root, "/console/people/user:mia/deactivate")
		containsAll(t, page, "What hangs on this person", "billing", "Zoë", `<span class="badge warn">alone</span>`)
		w.send(root, "/console/people/user:mia/deactivate", "reason", "she left")
		_, page = w.visit(root, "/console/people/user:mia")
		const transfer = "/console/people/user:mia/transfer?owner=user%3Azoe&tag=kafka"
		containsAll(t, page, strings.ReplaceAll(transfer, "&", "&amp;"))
		_, page = w.visit(root, transfer)
		containsAll(t, page, `value="user:zoe"`, "kafka")
		_, page = w.send(root, transfer, "owner", "user:zoe")
		containsAll(t, page, "Transferred items: 2.")
		for id, want := range map[string]string{"topics": "user:zoe", "offsets": "user:zoe", "invoices": "user:mia"} {
			if k := must(w.api.Knowledge(t.Context(), id))(t); k.Owner != want {
				t.Errorf("%s belongs to %s", id, k.Owner)
			}
		}
	})
}

func TestPeopleHaveOneNameOneIdAndTheirOwnDirection(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		arabic := "ليلى حسن"
		put := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", "user:laila"}, Body: api.NewMember{DisplayName: &arabic}}
		must(w.api.Do(t.Context(), put, nil))(t)
		key, _ := w.given("user:laila")
		must(w.as(key).Remember(t.Context(), client.Knowledge{ID: "hers", Type: "plan", Content: "Hers."}))(t)
		root := w.login(rootKey)
		_, page := w.visit(root, "/console/people")
		if n := strings.Count(page, arabic); n != 1 {
			t.Errorf("the name is shown %d times", n)
		}
		containsAll(t, page, "<code>user:laila</code>")
		for _, path := range []string{"/console/people", "/console/people?q=Hers", "/console/k/hers", "/console/people/user:laila"} {
			_, page := w.visit(root, path)
			for before := range strings.SplitSeq(page, arabic) {
				if open := before[strings.LastIndex(before, "<")+1:]; !strings.HasPrefix(open, "bdi") && !strings.Contains(open, "dir=") &&
					!strings.HasPrefix(open, "title") && !strings.HasSuffix(page, before) {
					t.Errorf("%s: the name is not isolated after <%s", path, open)
				}
			}
		}
	})
}

// With 300 groups, no page lists them all, and a field finds each.
func TestThreeHundredGroupsAreFoundByAField(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		put := func(body any, path ...string) {
			must(w.api.Do(t.Context(), client.Request{Method: http.MethodPut, Path: append([]string{"v1", "directory"}, path...), Body: body}, nil))(t)
		}
		put(api.NewMember{}, "org:acme")
		put(api.NewMember{}, "user:mia")
		for i := range 300 {
			group := fmt.Sprintf("team:g%03d", i)
			put(api.NewMember{}, group)
			if put(api.NewMembership{Role: "member"}, group, "groups", "org:acme"); i < 100 {
				put(api.NewMembership{Role: "member"}, "user:mia", "groups", group)
			}
		}
		root := w.login(rootKey)
		for path, found := range map[string]string{
			"/console/people?kind=team":            "/console/people?kind=team&q=g299",
			"/console/people/org:acme":             "/console/people/org:acme?named=g299",
			"/console/people/user:mia":             "/console/people/user:mia?named=g099",
			"/console/people/team:g000/deactivate": "",
			"/console/access/invite":               "",
		} {
			_, page := w.visit(root, path)
			if rows := len(named(t, page, "tr", "")); rows > 101 {
				t.Errorf("%s has %d rows", path, rows)
			}
			if options := len(named(t, page, "option", "")); options > 220 {
				t.Errorf("%s has %d options", path, options)
			}
			if found != "" {
				_, narrow := w.visit(root, found)
				containsAll(t, page, "<input")
				containsAll(t, narrow, found[len(found)-4:]+"</")
			}
		}
	})
}

// Subjects with long names stay heads of narrow columns, which say where they are cut. In the past, the page says that
// it is of today.
func TestAMapOfLongSubjectsStaysLow(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		for i := range 12 {
			tag := fmt.Sprint("tag", i, strings.Repeat("y", 100))
			w.remember(client.Knowledge{Type: "tool", Content: "It is " + tag, Scopes: []string{"team:pay"}, Tags: client.Tags{"labels": {tag}}})
		}
		p := w.open("/console/teams/team:pay?as_of=1")
		containsAll(t, p.Text("main"), "This is the team of today, not that of then.")
		p.Size(1280, 900)
		p.Go("/console/teams/team:pay")
		var high float64
		p.Eval(`document.querySelector(".heat thead").getBoundingClientRect().height`, &high)
		if high > 100 || p.Count(".heat thead a[title]") != 12 {
			t.Errorf("the heads of %d subjects are %.0f pixels high", p.Count(".heat thead a[title]"), high)
		}
	})
}
