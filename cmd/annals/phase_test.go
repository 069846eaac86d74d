package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/annals-kb/annals/http/api"
)

// phase waits until a rebuild is in a phase, which it must not have left behind. One whose version is
// given may not have begun yet.
func phase(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 1 || len(args) > 2, "phase PHASE [VERSION], while a rebuild runs")
	within(ts, 30*time.Second, "phase "+args[0], func() bool {
		_, said := sent(ts, http.MethodGet, "/v1/projections/knowledge/rebuild", "")
		var now api.Rebuild
		ts.Check(json.Unmarshal([]byte(said), &now))
		if len(args) == 2 && strconv.Itoa(now.Version) != args[1] {
			return false
		}
		if now.Progress == nil {
			ts.Fatalf("the rebuild has ended: it is %s", now.State)
		}
		return now.Progress.Phase == args[0]
	})
}
