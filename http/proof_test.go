package http_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/http/servertest"
)

// eachProven runs a test on both engines, with a server whose log is proven.
func eachProven(t *testing.T, test func(t *testing.T, w *world, key string)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w, key := proven(t, db)
		test(t, w, key)
	})
}

// proven is a world whose log is proven.
func proven(t *testing.T, db *database.DB) (*world, string) {
	t.Helper()
	var prover *proof.Prover
	w := newWorld(t, db, events.Options{}, func(cfg *servertest.Config) {
		prover = servertest.Prover(t, db, cfg.Writer.(*events.Log), cfg.Followers, 10*time.Millisecond)
		cfg.Prover = prover
	})
	servertest.Follow(t, prover.Follow)
	return w, prover.Key()
}

func TestAReceiptCanBeProven(t *testing.T) {
	eachProven(t, func(t *testing.T, w *world, key string) {
		var given struct {
			Key string `json:"key"`
		}
		w.ask("GET", "/v1/log/key", nil).want(http.StatusOK).into(&given)
		same(t, given.Key, key)
		w.ask("GET", "/v1/log/checkpoint", nil).want(http.StatusNotFound) // nothing is signed
		var first, last struct {
			Origin string `json:"origin"`
			Note   string `json:"note"`
			Size   int64  `json:"size"`
		}
		for i := range 7 {
			receipt := strings.Fields(w.receipt(t, string(rune('a'+i))))
			if len(receipt) != 3 {
				t.Fatalf("got receipt %q", receipt)
			}
			var got proof.Certificate
			w.ask("GET", "/v1/log/proof/"+receipt[0], nil).want(http.StatusOK).into(&got)
			same(t, got.EventID, receipt[0], got, receipt)
			same(t, got.Hash, receipt[2], got, receipt)
			if _, err := got.Check(key); err != nil {
				t.Error(err)
			}
			got.Position++
			if _, err := got.Check(key); err == nil {
				t.Error("a proof of another position is accepted")
			}
			if i == 2 {
				w.ask("GET", "/v1/log/checkpoint", nil).want(http.StatusOK).into(&first)
			}
		}
		w.ask("GET", "/v1/log/checkpoint", nil).want(http.StatusOK).into(&last)
		same(t, first.Origin, "annals.example/default")
		earlier, err := proof.Open(first.Note, key)
		if err != nil || earlier.Size < 3 {
			t.Fatalf("got %+v, %v", earlier, err)
		}
		var path struct {
			From, To int64
			ToRoot   string `json:"to_root"`
			Path     []string
		}
		w.ask("GET", "/v1/log/consistency?from="+fmt.Sprint(earlier.Size)+"&to=7", nil).want(http.StatusOK).into(&path)
		root, err := base64.StdEncoding.DecodeString(path.ToRoot)
		if err != nil {
			t.Fatal(err)
		}
		if err := proof.CheckConsistency(earlier, domain.Checkpoint{Size: 7, Root: domain.Digest(root)}, path.Path); err != nil {
			t.Error(err)
		}
		root[0]++
		if err := proof.CheckConsistency(earlier, domain.Checkpoint{Size: 7, Root: domain.Digest(root)}, path.Path); err == nil {
			t.Error("a proof for another root is accepted")
		}
		for query, field := range map[string]string{
			"": "from", "?from=0": "from", "?from=8": "from", "?from=2&to=1": "from", "?from=1&to=99": "to", "?from=x": "from",
		} {
			answer := w.ask("GET", "/v1/log/consistency"+query, nil).want(http.StatusUnprocessableEntity)
			like(t, string(answer.body), containing(`"field":"`+field+`"`), query, field)
		}
	})
}

// receipt remembers an item and returns the receipt.
func (w *world) receipt(t *testing.T, id string) string {
	t.Helper()
	answer := w.ask("POST", "/v1/knowledge", map[string]any{"id": id, "type": "strategy", "content": "Retry.", "scopes": []string{"user:" + id}, "owner": "user:" + id})
	return answer.want(http.StatusCreated).header.Get("Annals-Receipt")
}

func TestAProofIsForWhoeverMayReadTheEvent(t *testing.T) {
	eachProven(t, func(t *testing.T, w *world, _ string) {
		event := strings.Fields(w.receipt(t, "mia"))[0]
		w.ask("GET", "/v1/log/proof/"+event, nil, "Annals-On-Behalf-Of: user:mia").want(http.StatusOK)
		stranger := w.ask("GET", "/v1/log/proof/"+event, nil, "Annals-On-Behalf-Of: user:bo").want(http.StatusNotFound)
		nothing := w.ask("GET", "/v1/log/proof/0195a000-0000-7000-8000-000000000001", nil, "Annals-On-Behalf-Of: user:bo").want(http.StatusNotFound)
		same(t, detailOf(t, stranger), detailOf(t, nothing), "an invisible event is told from one that is not there")
		w.ask("GET", "/v1/log/proof/nonsense", nil).want(http.StatusNotFound)
		w.ask("GET", "/v1/log/export", nil, "Annals-On-Behalf-Of: user:bo").want(http.StatusForbidden)
	})
}

// into decodes the answer's body.
func (a *answer) into(to any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, to); err != nil {
		a.t.Fatalf("%s: %v", a.what, err)
	}
}

func detailOf(t *testing.T, a *answer) string {
	t.Helper()
	var p struct{ Detail string }
	a.into(&p)
	return p.Detail
}

func TestAnExportComesWholeOrWithoutItsEnd(t *testing.T) {
	eachProven(t, func(t *testing.T, w *world, key string) {
		for _, id := range []string{"a", "b", "c"} {
			w.receipt(t, id)
		}
		whole := w.ask("GET", "/v1/log/export", nil).want(http.StatusOK)
		lines := strings.Split(strings.TrimSuffix(string(whole.body), "\n"), "\n")
		if len(lines) != 4 || !strings.Contains(lines[3], key) || !strings.Contains(lines[0], "Retry.") {
			t.Errorf("got %s", whole.body)
		}
		part := w.ask("GET", "/v1/log/export?after=1&through=2&texts=false", nil).want(http.StatusOK)
		same(t, strings.Count(string(part.body), "\n"), 2)
		like(t, string(part.body), lacking("Retry."))
		w.ask("GET", "/v1/log/export?after=9", nil).want(http.StatusUnprocessableEntity)
		w.ask("GET", "/v1/log/export?through=9", nil).want(http.StatusUnprocessableEntity)
		var bulk struct {
			Receipt []struct {
				EventID string `json:"event_id"`
				Hash    string
			}
		}
		w.ask("POST", "/v1/knowledge", strings.NewReader(`{"id":"d","type":"tool","content":"x"}`), "Content-Type: application/x-ndjson").
			want(http.StatusOK).into(&bulk)
		if hash, err := hex.DecodeString(bulk.Receipt[0].Hash); err != nil || len(hash) != tlog.HashSize {
			t.Errorf("got %+v", bulk)
		}
	})
}

func TestExportsThatNobodyReadsHoldUpNoOtherRequest(t *testing.T) {
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		w := impatient(t, db, func(cfg *servertest.Config) {
			cfg.Prover = servertest.Prover(t, db, cfg.Writer.(*events.Log), cfg.Followers, 0)
		})
		refused := func() *answer { return w.ask("GET", "/v1/log/export", nil) }
		a := refused()
		for ; a.status == http.StatusOK; a = refused() { // until as many run as may
			w.ignore("/v1/log/export", "Accept: */*")
		}
		if a.want(http.StatusServiceUnavailable).header.Get("Retry-After") == "" {
			t.Errorf("got no Retry-After: %s", a.body)
		}
		for range 4 {
			w.ask("GET", "/v1/knowledge/item-0", nil).want(http.StatusOK)
			w.ask("POST", "/v1/knowledge", object{"type": "strategy", "content": "others go on"}).want(http.StatusCreated)
		}
		for refused().status != http.StatusOK { // until those that make no progress have ended
			time.Sleep(20 * time.Millisecond)
		}
	})
}

func TestAProofOfARewrittenEventHasTheLeafThatWasSigned(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		w, key := proven(t, db)
		receipt := strings.Fields(w.receipt(t, "a"))
		path := "/v1/log/proof/" + receipt[0]
		genuine := w.ask("GET", path, nil).want(http.StatusOK).json()
		if leaf, there := genuine["leaf"]; there {
			t.Errorf("a genuine event has the leaf %v", leaf)
		}
		databasetest.Tamper(t, w.db, fmt.Sprintf("UPDATE events SET actor = 'user:mallory', hash = %s WHERE position = 1",
			database.AppendLiteral(nil, w.db.Engine, make([]byte, tlog.HashSize))))
		answer := w.ask("GET", path, nil).want(http.StatusOK)
		hash, err := hex.DecodeString(receipt[2])
		if err != nil {
			t.Fatal(err)
		}
		same(t, answer.json()["leaf"], any(tlog.RecordHash(hash).String()))
		var certificate proof.Certificate
		answer.into(&certificate)
		certificate.Record = nil // whose hash is wrong, too
		if _, err := certificate.Check(key); err == nil || !strings.Contains(err.Error(), "was rewritten") {
			t.Errorf("it passes: %v", err)
		}
		databasetest.Tamper(t, w.db, "UPDATE tree SET hashes = "+
			string(database.AppendLiteral(nil, w.db.Engine, make([]byte, tlog.HashSize))))
		w.ask("GET", path, nil).want(http.StatusInternalServerError) // the tree is damaged, too
	})
}

func TestTheLogsOfAnEarlierProgramVerify(t *testing.T) {
	t.Parallel()
	key, err := os.ReadFile(earlier + "log.pub")
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range earlierLogs {
		report, err := proof.VerifyFile(t.Context(), earlier+tenant+".ndjson", proof.Verification{Keys: []string{strings.TrimSpace(string(key))}})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Verified {
			t.Errorf("the log of %s does not verify: %+v", tenant, report.Faults)
		}
	}
}
