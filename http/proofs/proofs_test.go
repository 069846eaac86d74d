package proofs_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/proof"
	. "github.com/annals-kb/annals/http/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachProven runs a test on both engines, with a server whose log is proven.
func eachProven(t *testing.T, test func(t *testing.T, w *World, key string)) {
	t.Helper()
	EachWith(t, proven, func(t *testing.T, w *World) { test(t, w, keyOf(w)) })
}

// proven lets a server prove its log.
func proven(w *World, cfg *Config) {
	prover := Prover(w.T, w.DB, w.Log, w.Followers, 10*time.Millisecond)
	Follow(w.T, prover.Follow)
	cfg.Prover = prover
}

func keyOf(w *World) string { return w.Configured.Prover.(*proof.Prover).Key() }

func TestAReceiptCanBeProven(t *testing.T) {
	eachProven(t, func(t *testing.T, w *World, key string) {
		var given struct {
			Key string `json:"key"`
		}
		w.Ask("GET", "/v1/log/key", nil).Want(http.StatusOK).Into(&given)
		Same(t, given.Key, key)
		w.Ask("GET", "/v1/log/checkpoint", nil).Want(http.StatusNotFound) // nothing is signed
		var first, last struct {
			Origin string `json:"origin"`
			Note   string `json:"note"`
			Size   int64  `json:"size"`
		}
		for i := range 7 {
			receipt := strings.Fields(receipt(w, string(rune('a'+i))))
			if len(receipt) != 3 {
				t.Fatalf("got receipt %q", receipt)
			}
			var got proof.Certificate
			w.Ask("GET", "/v1/log/proof/"+receipt[0], nil).Want(http.StatusOK).Into(&got)
			Same(t, got.EventID, receipt[0], got, receipt)
			Same(t, got.Hash, receipt[2], got, receipt)
			if _, err := got.Check(key); err != nil {
				t.Error(err)
			}
			got.Position++
			if _, err := got.Check(key); err == nil {
				t.Error("a proof of another position is accepted")
			}
			if i == 2 {
				w.Ask("GET", "/v1/log/checkpoint", nil).Want(http.StatusOK).Into(&first)
			}
		}
		w.Ask("GET", "/v1/log/checkpoint", nil).Want(http.StatusOK).Into(&last)
		Same(t, first.Origin, "annals.example/default")
		earlier, err := proof.Open(first.Note, key)
		if err != nil || earlier.Size < 3 {
			t.Fatalf("got %+v, %v", earlier, err)
		}
		var path struct {
			From, To int64
			ToRoot   string `json:"to_root"`
			Path     []string
		}
		w.Ask("GET", "/v1/log/consistency?from="+fmt.Sprint(earlier.Size)+"&to=7", nil).Want(http.StatusOK).Into(&path)
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
			answer := w.Ask("GET", "/v1/log/consistency"+query, nil).Want(http.StatusUnprocessableEntity)
			Like(t, string(answer.Body), Containing(`"field":"`+field+`"`), query, field)
		}
	})
}

// receipt remembers an item and returns the receipt.
func receipt(w *World, id string) string {
	w.T.Helper()
	answer := w.Ask("POST", "/v1/knowledge", map[string]any{"id": id, "type": "strategy", "content": "Retry.", "scopes": []string{"user:" + id}, "owner": "user:" + id})
	return answer.Want(http.StatusCreated).Header.Get("Annals-Receipt")
}

func TestAProofIsForWhoeverMayReadTheEvent(t *testing.T) {
	eachProven(t, func(t *testing.T, w *World, _ string) {
		event := strings.Fields(receipt(w, "mia"))[0]
		w.Ask("GET", "/v1/log/proof/"+event, nil, "Annals-On-Behalf-Of: user:mia").Want(http.StatusOK)
		stranger := w.Ask("GET", "/v1/log/proof/"+event, nil, "Annals-On-Behalf-Of: user:bo").Want(http.StatusNotFound)
		nothing := w.Ask("GET", "/v1/log/proof/0195a000-0000-7000-8000-000000000001", nil, "Annals-On-Behalf-Of: user:bo").Want(http.StatusNotFound)
		Same(t, detailOf(t, stranger), detailOf(t, nothing), "an invisible event is told from one that is not there")
		w.Ask("GET", "/v1/log/proof/nonsense", nil).Want(http.StatusNotFound)
		w.Ask("GET", "/v1/log/export", nil, "Annals-On-Behalf-Of: user:bo").Want(http.StatusForbidden)
	})
}

func detailOf(t *testing.T, a *Answer) string {
	t.Helper()
	var p struct{ Detail string }
	a.Into(&p)
	return p.Detail
}

func TestAnExportComesWholeOrWithoutItsEnd(t *testing.T) {
	eachProven(t, func(t *testing.T, w *World, key string) {
		for _, id := range []string{"a", "b", "c"} {
			receipt(w, id)
		}
		whole := w.Ask("GET", "/v1/log/export", nil).Want(http.StatusOK)
		lines := strings.Split(strings.TrimSuffix(string(whole.Body), "\n"), "\n")
		if len(lines) != 4 || !strings.Contains(lines[3], key) || !strings.Contains(lines[0], "Retry.") {
			t.Errorf("got %s", whole.Body)
		}
		part := w.Ask("GET", "/v1/log/export?after=1&through=2&texts=false", nil).Want(http.StatusOK)
		Same(t, strings.Count(string(part.Body), "\n"), 2)
		Like(t, string(part.Body), Lacking("Retry."))
		w.Ask("GET", "/v1/log/export?after=9", nil).Want(http.StatusUnprocessableEntity)
		w.Ask("GET", "/v1/log/export?through=9", nil).Want(http.StatusUnprocessableEntity)
		var bulk struct {
			Receipt []struct {
				EventID string `json:"event_id"`
				Hash    string
			}
		}
		w.Ask("POST", "/v1/knowledge", strings.NewReader(`{"id":"d","type":"tool","content":"x"}`), NDJSON).
			Want(http.StatusOK).Into(&bulk)
		if hash, err := hex.DecodeString(bulk.Receipt[0].Hash); err != nil || len(hash) != tlog.HashSize {
			t.Errorf("got %+v", bulk)
		}
	})
}

func TestExportsThatNobodyReadsHoldUpNoOtherRequest(t *testing.T) {
	configure := func(w *World, cfg *Config) { cfg.Prover = Prover(w.T, w.DB, w.Log, w.Followers, 0) }
	EachImpatient(t, configure, func(t *testing.T, w *World) {
		refused := func() *Answer { return w.Ask("GET", "/v1/log/export", nil) }
		a := refused()
		for ; a.Status == http.StatusOK; a = refused() { // until as many run as may
			w.Ignore("/v1/log/export", "Accept: */*")
		}
		if a.Want(http.StatusServiceUnavailable).Header.Get("Retry-After") == "" {
			t.Errorf("got no Retry-After: %s", a.Body)
		}
		for range 4 {
			w.Ask("GET", "/v1/knowledge/item-0", nil).Want(http.StatusOK)
			w.Ask("POST", "/v1/knowledge", Object{"type": "strategy", "content": "others go on"}).Want(http.StatusCreated)
		}
		databasetest.Until(t, "those that make no progress have ended", func() bool { return refused().Status == http.StatusOK })
	})
}

func TestAProofOfARewrittenEventHasTheLeafThatWasSigned(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		w := NewWorld(t, db, events.Options{}, proven)
		key := keyOf(w)
		receipt := strings.Fields(receipt(w, "a"))
		path := "/v1/log/proof/" + receipt[0]
		genuine := w.Ask("GET", path, nil).Want(http.StatusOK).JSON()
		if leaf, there := genuine["leaf"]; there {
			t.Errorf("a genuine event has the leaf %v", leaf)
		}
		databasetest.Tamper(t, w.DB, fmt.Sprintf("UPDATE events SET actor = 'user:mallory', hash = %s WHERE position = 1",
			database.AppendLiteral(nil, w.DB.Engine, make([]byte, tlog.HashSize))))
		answer := w.Ask("GET", path, nil).Want(http.StatusOK)
		hash, err := hex.DecodeString(receipt[2])
		if err != nil {
			t.Fatal(err)
		}
		Same(t, answer.JSON()["leaf"], any(tlog.RecordHash(hash).String()))
		var certificate proof.Certificate
		answer.Into(&certificate)
		certificate.Record = nil // whose hash is wrong, too
		if _, err := certificate.Check(key); err == nil || !strings.Contains(err.Error(), "was rewritten") {
			t.Errorf("it passes: %v", err)
		}
		databasetest.Tamper(t, w.DB, "UPDATE tree SET hashes = "+
			string(database.AppendLiteral(nil, w.DB.Engine, make([]byte, tlog.HashSize))))
		w.Ask("GET", path, nil).Want(http.StatusInternalServerError) // the tree is damaged, too
	})
}

func TestTheLogsOfAnEarlierProgramVerify(t *testing.T) {
	t.Parallel()
	key, err := os.ReadFile("../testdata/earlier/log.pub")
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{"default", "acme", "_system"} {
		report, err := proof.VerifyFile(t.Context(), "../testdata/earlier/"+tenant+".ndjson", proof.Verification{Keys: []string{strings.TrimSpace(string(key))}})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Verified {
			t.Errorf("the log of %s does not verify: %+v", tenant, report.Faults)
		}
	}
}
