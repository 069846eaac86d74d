package viking_test

import (
	"crypto/md5" //nolint:gosec // how plugins name a space
	"encoding/hex"
	"net/http"
	"slices"
	"testing"
)

// spaceOf is the name that plugins of v0.2.6 to v0.3.4 give to the space of a user's agent.
func spaceOf(user, agent string) string {
	sum := md5.Sum([]byte(user + agent)) //nolint:gosec // likewise
	return hex.EncodeToString(sum[:])[:12]
}

func TestWhatAgentsShareIsFoundInTheSpaceOfAnAgent(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const alice, bob, agent = header("X-OpenViking-User: alice"), header("X-OpenViking-User: bob"), header("X-OpenViking-Agent: main")
		const shared, other = "viking://agent/memories/cases/zebra.md", "viking://resources/zebra.md"
		skill := "viking://agent/skills/zebra-parade"
		own := "viking://agent/" + spaceOf("alice", "main")
		private := own + "/memories/patterns/zebra-mine.md"
		write := func(uri string, headers ...header) {
			t.Helper()
			w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "zebra crossing at " + uri, "mode": "create"}, headers...).object()
		}
		write(shared, bob)
		write(other, bob)
		write("viking://user/bob/memories/zebra.md", bob)
		write(private, alice, agent)
		const learned = "viking://user/alice/memories/tools/zebra-counter.md" // as a session teaches it to its user
		write(learned, alice, agent)
		write("viking://user/memories/zebra.md", alice, agent)
		w.ask("POST", "/api/v1/skills", object{"data": object{"name": "zebra-parade", "description": "zebra", "content": "zebra"}}, bob).object()

		const mine = "viking://user/alice/memories/zebra.md"
		for target, want := range map[string][]string{
			own + "/memories":          {shared, private, learned},
			own + "/memories/":         {shared, private, learned},
			own + "/memories/cases":    {shared},
			own + "/memories/tools":    {learned},
			own + "/skills":            {skill},
			"viking://~/memories":      {shared, mine, learned},
			"viking://~/skills":        {skill},
			"viking://user/memories":   {mine, learned},
			"viking://agent/memories":  {shared, learned},
			own:                        {private},
			"viking://~":               {mine, learned},
			"viking://~/memories/cool": nil,
		} {
			for _, route := range []string{"find", "search"} {
				result := w.ask("POST", "/api/v1/search/"+route, object{"query": "zebra", "target_uri": target, "score_threshold": 0}, alice, agent).object()
				got := append(append(found(result, "memories"), found(result, "skills")...), found(result, "resources")...)
				slices.Sort(got)
				slices.Sort(want)
				same(t, got, want, route, target)
			}
		}

		read := func(uri string) any {
			return w.read(uri, alice, agent)
		}
		same(t, read(own+"/memories/cases/zebra.md"), "zebra crossing at "+shared)
		if got := read(own + "/skills/zebra-parade"); got == "" {
			t.Error("read no skill")
		}
		listed := w.ask("GET", at("/api/v1/fs/ls", own+"/memories", "recursive=true"), nil, alice, agent).entries()
		names := column(listed, "rel_path")
		for _, name := range []any{"cases", "cases/zebra.md", "patterns/zebra-mine.md"} {
			if i := slices.Index(names, name); i < 0 || slices.Contains(names[i+1:], name) {
				t.Errorf("listed %v, want %v once", names, name)
			}
		}
		for path, body := range map[string]object{"grep": {"pattern": "crossing"}, "glob": {"pattern": "zebra*.md"}} {
			body["uri"] = own + "/memories"
			like(t, w.ask("POST", "/api/v1/search/"+path, body, alice, agent).object(), object{"count": 2.0}, path)
		}
		w.ask("DELETE", at("/api/v1/fs", own+"/memories/cases/zebra.md"), nil, alice, agent).refused(http.StatusPreconditionFailed, "FAILED_PRECONDITION")
		w.ask("GET", at("/api/v1/content/read", own+"/memories/cases/nothing.md"), nil, alice, agent).missing()
		same(t, read(shared), "zebra crossing at "+shared, "what is shared says")

		const bot, bots = header("Annals-Actor: agent:bot"), "viking://agent/bot/memories/cases/zebra.md" // an agent in its own name
		write(bots, bot)
		for _, target := range []string{"viking://agent/memories", "viking://~/memories", "viking://agent/memories/cases"} {
			result := w.ask("POST", "/api/v1/search/find", object{"query": "zebra", "target_uri": target}, bot).object()
			if got := found(result, "memories"); !slices.Contains(got, bots) {
				t.Errorf("%s: an agent does not find its own: %v", target, got)
			}
		}
	})
}
