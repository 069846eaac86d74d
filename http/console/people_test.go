package console_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

const staffFile = `member,display_name,active,groups
org:acme,ACME,true,
team:pay,Payments,true,org:acme
user:mia,米娅 Mia,true,team:pay=maintainer
user:ben,Ben,false,
agent:coder,,true,team:pay
`

// staff fills the directory.
func (w *world) staff() {
	w.t.Helper()
	wanted, _, err := client.ReadDirectory(strings.NewReader(staffFile))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, change := range client.DirectoryChanges(nil, wanted, false) {
		if _, err := w.api.Do(w.t.Context(), change.Request, nil); err != nil {
			w.t.Fatalf("%s: %s", change.What, err)
		}
	}
}

func TestAnOrganisationIsSetUpInTheBrowser(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		p := w.open("/console/people/import")
		p.Type("#key", rootKey)
		p.Click("main button")
		p.WaitFor("#text")
		p.Type("#text", staffFile)
		p.Click("main form button")
		p.WaitFor("button[name=step]")
		containsAll(t, p.Text("main"), "user:mia joins team:pay as maintainer", "deactivate user:ben")
		p.Click("button[name=step]")
		p.WaitFor(".done")
		containsAll(t, p.Text("main"), "Changes that were made: 9.", "the directory is as the file says")
		p.Go("/console/people?kind=team")
		p.Click("main tbody a.entry")
		p.WaitFor("dl.facts")
		containsAll(t, p.Text("main"), "ACME", "directly", "米娅 Mia", "maintainer", "agent coder")
	})
}

func TestMembersAreChangedByFormsThatKeepWhatWasTyped(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		mia, prefix := w.given("user:mia")
		if _, err := w.as(mia).Remember(t.Context(), client.Knowledge{ID: "hers", Type: "plan", Content: "Hers.", Scopes: []string{"team:pay"}}); err != nil {
			t.Fatal(err)
		}
		coder, _ := w.given("agent:coder")
		root, hers, coders := w.login(rootKey), w.login(mia), w.login(coder)
		for browser, may := range map[*http.Client]bool{root: true, hers: true, coders: false} {
			if _, page := w.visit(browser, "/console/people/agent:coder"); strings.Contains(page, "Change the role") != may {
				t.Errorf("want %t:\n%s", may, page)
			}
			_, page := w.visit(browser, "/console/remember")
			containsAll(t, page, `<option value="strategy" selected>`)
		}
		for _, one := range []struct {
			browser *http.Client
			path    string
			form    []string
			status  int
			want    []string
		}{
			{root, "/console/people?kind=user", []string{"kind", "user", "id", "no way", "display_name", "Zoë"}, 422, []string{`value="no way"`, "Zoë", `id="id-wrong"`}},
			{root, "/console/people", []string{"kind", "user", "id", "zoe", "display_name", "Zoë"}, 200, []string{"The directory has the member", "Zoë"}},
			{root, "/console/people/user:zoe/rename", []string{"display_name", "Zoë B."}, 200, []string{"The name is changed", "Zoë B."}},
			{root, "/console/people/user:zoe/join", []string{"group", "team:none", "role", "member"}, 404, []string{"team:none", "not in the directory"}},
			{hers, "/console/people/team:pay/enrol", []string{"member", "user:zoe", "role", "member"}, 200, []string{"The group has the member", "user:zoe"}},
			{hers, "/console/people/user:zoe/role?group=team:pay&from=group", []string{"role", "maintainer"}, 200, []string{"The role is changed"}},
			{hers, "/console/people/user:zoe/leave?group=team:pay", []string{"reason", "moved"}, 200, []string{"does not belong to the group any more", "no group"}},
			{hers, "/console/people/user:zoe/join", []string{"group", "org:acme", "role", "member"}, 403, []string{"org:acme"}},
			{root, "/console/people/user:mia/deactivate", []string{"reason", "she left", "owner", "user:ben"}, 422, []string{"she left", `id="owner-wrong"`}},
			{root, "/console/people/user:mia/deactivate", []string{"reason", "she left"}, 200, []string{"Owned by a deactivated member", prefix, "revoked"}},
			{root, "/console/people/user:mia/transfer", []string{"owner", " "}, 422, []string{`id="owner-wrong"`}},
			{coders, "/console/people/user:mia/transfer", []string{"owner", "team:pay"}, 200, []string{"Transferred items: 0.", "were not transferred: 1", "Not yours to do"}},
			{root, "/console/people/user:mia/transfer", []string{"owner", "team:pay"}, 200, []string{"Transferred items: 1."}},
			{root, "/console/people/user:mia/nothing", nil, 404, nil},
		} {
			status, page := w.send(one.browser, one.path, one.form...)
			if status != one.status {
				t.Fatalf("%s: %d\n%s", one.path, status, page)
			}
			containsAll(t, page, one.want...)
		}
		if k, err := w.api.Knowledge(t.Context(), "hers"); err != nil || k.Owner != "team:pay" {
			t.Errorf("%s, %v", k.Owner, err)
		}
		if status, _ := w.visit(w.login(rootKey), "/console/people/import"); status != http.StatusOK {
			t.Error(status)
		}
	})
}

func TestAnImportMakesTheOtherChangesAndReportsEveryRefusal(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const path, file = "/console/people/import", "member,display_name,active,groups\nuser:zoe,,,team:none\nuser:kim,,,team:gone\nuser:lee,,,\n"
		root := w.login(rootKey)
		_, page := w.send(root, path, "text", file)
		containsAll(t, page, "will be refused", "team:none is neither in the file nor in the directory")
		_, page = w.send(root, path, "text", file, "step", "save")
		containsAll(t, page, "Changes that were made: 3.", "Changes that were refused: 2", "user:kim joins team:gone as member: team:gone is neither")
	})
}

func TestAFileThatIsNoDirectoryIsRefused(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		const path = "/console/people/import"
		root := w.login(rootKey)
		tooLarge, page := w.sendFile(root, path, "a.csv", strings.Repeat(staffFile, 10_000))
		containsAll(t, page, "The file is too large", "the form may have at most 1.0 MiB")
		invalid, page := w.sendFile(root, path, "a.csv", staffFile+staffFile)
		containsAll(t, page, "The file cannot be read", "<li>line 10: user:mia is named twice</li>", "org:acme,ACME")
		if tooLarge != http.StatusRequestEntityTooLarge || invalid != http.StatusUnprocessableEntity {
			t.Error(tooLarge, invalid)
		}
	})
}

// named adds a member with a name.
func (w *world) named(member, name string) {
	w.t.Helper()
	put := client.Request{Method: http.MethodPut, Path: []string{"v1", "directory", member}, Body: api.NewMember{DisplayName: &name}}
	if _, err := w.api.Do(w.t.Context(), put, nil); err != nil {
		w.t.Fatal(err)
	}
}

func TestAPersonSharesWithATeamByItsName(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.staff()
		w.remember(client.Knowledge{ID: "mine", Type: "plan", Content: "We pay on Fridays.", Scopes: []string{"user:default"}})
		for i := range 101 {
			w.named(fmt.Sprint("team:", i), "")
		}
		w.named("team:zulu", "Zulu Operations")
		h := hand{Page: w.open("/console/k/mine/act/rescope"), t: t, keyboard: true}
		const offered = `#scopes-known option[value="team:zulu"]`
		if h.WaitFor("#scopes"); h.Count(offered) > 0 {
			t.Error("everybody is offered at once")
		}
		h.fill("#scopes + span + input", "zulu")
		h.WaitFor("main:has(" + offered + ")")
		h.Axe()
		h.fill("#scopes + span + input", " operations") // no list is drawn without a screen, so nothing can be chosen from it
		h.use("main form[method=post] button")
		p := h.Page
		p.WaitFor("button[value=save]")
		containsAll(t, p.Text("main"), "Can see it from then on", "team:zulu")
		p.Press("Enter")
		p.WaitFor(".done")
		if k, err := w.api.Knowledge(t.Context(), "mine"); err != nil || !slices.Equal(k.Scopes, []string{"user:default", "team:zulu"}) {
			t.Errorf("%v, %v", k.Scopes, err)
		}
	})
}

func TestANameIsTakenOnlyIfItIsOneMembersAlone(t *testing.T) {
	onOne(t, "", func(t *testing.T, w *world) {
		w.staff()
		w.named("user:chen", "Chen")
		w.named("agent:chen-bot", "Chen")
		w.remember(client.Knowledge{ID: "mine", Type: "plan", Content: "We pay on Fridays.", Scopes: []string{"user:default"}})
		for typed, want := range map[string][]string{
			"Nobody Known":       {"Nobody Known must be a name in the directory"},
			"Paymen":             {"Nobody is called Paymen. Similar: Payments team:pay"},
			"payments, 米娅, Chen": {`value="team:pay"`, "Nobody is called 米娅. Similar: 米娅 Mia user:mia", "Several are called Chen: Chen user:chen, Chen agent:chen-bot"},
		} {
			status, page := w.act(browse(t), "mine", "rescope", "scopes", typed, "reason", "kept")
			containsAll(t, page, append(want, `id="scopes-wrong"`, `aria-describedby="scopes-wrong"`, "kept")...)
			if status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d", typed, status)
			}
		}
		_, page := w.act(browse(t), "mine", "handover", "owner", "米娅 mia")
		containsAll(t, page, "What changes", `name="owner" value="user:mia"`)
	})
}

func TestAGroupShowsItsMembersByTheDirectoryAndByTheirKeys(t *testing.T) {
	onOne(t, rootKey, func(t *testing.T, w *world) {
		w.staff()
		root := w.login(rootKey)
		_, made := w.send(root, "/console/access", "subject", "crawler", "role", "member")
		containsAll(t, made, "crawler must be a name in the directory")
		_, made = w.send(root, "/console/access", "subject", "agent:crawler", "role", "member", "memberships", "Payments")
		_, page := w.visit(root, "/console/people/team:pay")
		containsAll(t, page, "by the directory", "agent:crawler", "stated by the key", keyForm.FindStringSubmatch(made)[1])
	})
}
