package viking_test

import (
	"net/http"
	"testing"
)

func TestWhatAnAgentWritesForATeamMayWaitForApproval(t *testing.T) {
	each(t, keyed, func(t *testing.T, w *world) {
		admin := w.keyFor(object{"subject": "user:olga", "role": "admin"})
		ben := w.keyFor(object{"subject": "user:ben", "memberships": []string{"team:pay"}})
		robot := w.keyFor(object{"subject": "agent:robot", "memberships": []string{"team:pay"}})
		w.ask("PUT", "/v1/verification/team:pay", object{"approve": []string{"agent"}}, admin).want(http.StatusOK)
		upload := w.upload("c.md", "", []byte("Refunds on Fridays."), robot)
		for name, write := range map[string]struct {
			path string
			body object
			by   header
			want string
		}{
			"a":    {"content/write", object{"uri": "viking://resources/a/a.md", "content": "Deploys on Tuesdays.", "mode": "create"}, robot, "proposed"},
			"b":    {"content/batch-write", object{"root_uri": "viking://resources/b", "operations": []object{{"uri": "viking://resources/b/b.md", "content": "Payouts on Mondays."}}}, robot, "proposed"},
			"c":    {"resources", object{"temp_file_id": upload, "to": "viking://resources/c"}, robot, "proposed"},
			"mine": {"content/write", object{"uri": "viking://resources/mine/mine.md", "content": "Releases on Thursdays.", "mode": "create"}, ben, ""},
		} {
			answer := w.ask("POST", "/api/v1/"+write.path, write.body, write.by).want(http.StatusOK)
			same(t, answer.header.Get("Annals-Outcome"), write.want, name)
			read := w.ask("GET", at("/api/v1/content/read", "viking://resources/"+name+"/"+name+".md"), nil, ben)
			if (read.status == http.StatusOK) != (write.want == "") {
				t.Errorf("%s: a member of the team reads it: %d", name, read.status)
			}
		}
		waiting := w.ask("GET", "/v1/knowledge?status=proposed", nil, admin).want(http.StatusOK).json()["items"].([]any)
		same(t, len(waiting), 3)
		for _, item := range waiting {
			w.ask("POST", "/v1/knowledge/"+item.(object)["id"].(string)+"/accept", object{}, admin).want(http.StatusOK)
		}
		for _, name := range []string{"a", "b", "c"} {
			w.read("viking://resources/"+name+"/"+name+".md", ben)
		}
	})
}
