package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/http/mcp"
)

// byViking connects a host that wants OpenViking's tools.
func (w *world) byViking() *sdk.ClientSession {
	w.t.Helper()
	if w.tenant != "http" {
		return w.byLinesWith("openviking", false)
	}
	return w.connect(&sdk.StreamableClientTransport{
		Endpoint: w.url + "/mcp?tools=openviking", DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: keyed(w.key)},
	})
}

func TestAServerChoosesTheToolsOfHostsThatDoNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		served := httptest.NewServer(mcp.New(mcp.Config{API: w.api, Tools: mcp.OpenViking}).Handler())
		t.Cleanup(served.Close)
		for address, want := range map[string]bool{"": true, "?tools=annals": false} {
			host := w.connect(&sdk.StreamableClientTransport{Endpoint: served.URL + address, DisableStandaloneSSE: true})
			listed, err := host.ListTools(t.Context(), nil)
			if err != nil || slices.ContainsFunc(listed.Tools, func(t *sdk.Tool) bool { return t.Name == "glob" }) != want {
				t.Errorf("%q: glob is not %t: %v", address, want, err)
			}
		}
	})
}

func TestAHostUsesTheToolsOfAnOpenVikingServer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		host := w.byViking()
		listed, err := host.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range listed.Tools {
			names = append(names, tool.Name)
		}
		slices.Sort(names)
		want := []string{"add_resource", "find", "forget", "glob", "grep", "health", "list", "read", "remember", "search", "tree", "write"}
		same(t, names, want)

		const directory, uri = "viking://agent/memories/tools", "viking://agent/memories/tools/chromedriver.md"
		ask := func(tool string, arguments object, part string) object {
			t.Helper()
			got := w.callOn(host, tool, arguments)
			if data := got.ok(); strings.Contains(got.text, part) {
				return data
			}
			t.Errorf("%s: %q is not in\n%s", tool, part, got.text)
			return nil
		}
		ask("write", object{"uri": uri, "content": "chromedriver 124 needs Chrome 124"}, "Written: "+uri)
		ask("write", object{"uri": uri, "content": "\nPin both.", "mode": "append"}, uri)
		ask("find", object{"query": "which Chrome does chromedriver need", "target_uri": directory, "min_score": 0.2}, "- [memory ")
		ask("search", object{"query": "chromedriver", "session_id": "unknown", "limit": 3}, uri)
		ask("find", object{"query": "zygomorphic"}, "Nothing matches.")
		ask("read", object{"uris": uri}, "chromedriver 124 needs Chrome 124\nPin both.")
		ask("read", object{"uris": []string{uri, directory + "/none.md"}}, "=== "+directory+"/none.md ===")
		ask("list", object{"uri": directory}, "[file] chromedriver.md")
		ask("list", object{"uri": "viking://agent/memories", "recursive": true}, "[file] "+uri)
		ask("tree", object{"uri": "viking://agent", "level_limit": 4}, "[dir] "+directory)
		ask("grep", object{"uri": directory, "pattern": []string{"^pin", "needs"}, "case_insensitive": true}, uri+":2: Pin both.")
		ask("glob", object{"pattern": "chrome*.md"}, uri)
		ask("remember", object{"messages": []object{{"role": "user", "content": "I prefer tabs."}, {"role": "assistant", "content": "Noted."}}}, "kept")
		ask("health", nil, "Annals test answers")
		ask("forget", object{"uri": uri}, "Removed 1 item(s)")
		ask("glob", object{"pattern": "chrome*.md", "uri": "viking://agent"}, "No name matches.")

		for tool, arguments := range map[string]object{
			"read": {"uris": uri}, "find": {}, "remember": {"messages": []object{}}, "list": {"uri": directory, "depth": 2},
			"write": {"uri": "viking://user/other/x.md", "content": "x", "mode": "create"}, "add_resource": {"path": "/etc/passwd"},
			"grep": {"uri": "viking://agent", "pattern": "("},
		} {
			code := w.callOn(host, tool, arguments).refused()
			if want := map[string]string{"read": "NOT_FOUND", "write": "PERMISSION_DENIED", "add_resource": "PERMISSION_DENIED"}[tool]; want != "" && code != want || want == "" && code != "INVALID_ARGUMENT" {
				t.Errorf("%s: refused as %s", tool, code)
			}
		}
	})
}

func TestTheSectionThatMatchedIsShown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var handbook strings.Builder
		for topic := range strings.FieldsSeq("onboarding travel laptops holidays badges parking invoices catering cleaning visitors") {
			fmt.Fprintf(&handbook, "# About %s\n\nThe office keeps a list of %s. %s\n\n", topic, topic, strings.Repeat("Ask the desk about it. ", 12))
		}
		handbook.WriteString("# Chargers\n\nA broken charger is replaced within a day by the workshop on floor seven.\n")
		kept := w.call("save_knowledge", object{"content": handbook.String(), "type": "definition", "abstract": "The handbook of the office."}).ok()
		const query, wanted = "who replaces a broken charger", "workshop on floor seven"
		for host, tool := range map[*sdk.ClientSession]string{w.host: "retrieve_memory", w.byViking(): "find"} {
			shown := w.callOn(host, tool, object{"query": query, "min_score": 0.01})
			if tool == "retrieve_memory" {
				shown = w.callOn(host, tool, object{"query": query})
			}
			like(t, shown.text, containing(wanted), tool)
			like(t, fmt.Sprint(shown.ok()), containing("Chargers:\n"), tool)
			like(t, shown.text, lacking("parking"), tool)
		}
		other := w.call("retrieve_memory", object{"query": "handbook"})
		like(t, other.text, lacking("charger"), kept)
	})
}

func TestEveryArgumentIsDescribed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var undescribed func(at string, schema object) []string
		undescribed = func(at string, schema object) (all []string) {
			properties, _ := schema["properties"].(object)
			for name, property := range properties {
				if property.(object)["description"] == nil {
					all = append(all, at+"."+name)
				}
				all = append(all, undescribed(at+"."+name, property.(object))...)
			}
			if items, is := schema["items"].(object); is {
				all = append(all, undescribed(at, items)...)
			}
			return all
		}
		for _, host := range []*sdk.ClientSession{w.host, w.byViking()} {
			listed, err := host.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range listed.Tools {
				lacking := append(undescribed("in", tool.InputSchema.(object)), undescribed("out", tool.OutputSchema.(object))...)
				if len(lacking) > 0 || tool.Title == "" || tool.Description == "" {
					t.Errorf("%s (%s): %v", tool.Name, tool.Title, lacking)
				}
			}
		}
	})
}
