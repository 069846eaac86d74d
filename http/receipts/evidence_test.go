package receipts_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/annals-kb/annals/http/servertest"
)

// python runs the verifier of evidence. Python 3 is needed, as for make test-clients.
func python(t *testing.T, folder string, arguments ...string) (output string, code int) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is not installed: scripts/python.sh install")
	}
	command := exec.CommandContext(t.Context(), path, append([]string{filepath.Join(folder, "verify.py")}, arguments...)...)
	out, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), command.ProcessState.ExitCode()
}

// unpack writes the files of a zip into a new folder.
func unpack(t *testing.T, archive []byte) (folder string, names []string) {
	t.Helper()
	folder = t.TempDir()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	NoError(t, err)
	for _, file := range reader.File {
		names = append(names, file.Name)
		path := filepath.Join(folder, file.Name)
		NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		content, err := file.Open()
		NoError(t, err)
		data, err := io.ReadAll(content)
		NoError(t, err)
		NoError(t, os.WriteFile(path, data, 0o644))
	}
	return folder, names
}

// evidence is a file about three sealed answers of ann, of which one had an item that is erased now.
func (w *world) evidence() (archive []byte) {
	t := w.T
	t.Helper()
	ann, audit := w.as("user:ann", "member", "team:pay"), w.as("user:audit", "auditor")
	w.remember(ann, "retry", "Retry payments „five“ times <b>with</b> jitter\u2028& patience.", "team:pay")
	w.remember(ann, "limits", "Payments above 10,000 need a second person.", "team:pay")
	w.search("payments", ann, "Annals-Session: s-1")
	w.Ask("PATCH", "/v1/knowledge/retry", Object{"content": "Retry payments twice."}, ann,
		"Content-Type: application/merge-patch+json").Want(http.StatusOK)
	w.search("retry payments", ann)
	w.Ask("GET", "/v1/knowledge/limits", nil, ann).Want(http.StatusOK)
	w.search("somebody else asks", audit)
	NoError(t, w.kept.Flush(t.Context()))
	w.now = func() time.Time { return time.Now().Add(time.Hour) }
	NoError(t, w.kept.Seal(t.Context()))
	w.Ask("DELETE", "/v1/knowledge/limits?erase=true&reason_code=request", nil, Bearer(RootKey)).Want(http.StatusNoContent)
	w.Ask("GET", "/v1/receipts/evidence", nil, ann).Want(http.StatusForbidden)
	return w.Ask("GET", "/v1/receipts/evidence?agent=user:ann", nil, audit).Want(http.StatusOK).Body
}

func TestEvidenceIsVerifiedWithPythonAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		folder, names := unpack(t, w.evidence())
		for _, wanted := range []string{"index.html", "controls.html", "receipts/r1-1.json", "receipts/r1-3.json"} {
			Like(t, strings.Join(names, "\n"), Containing(wanted))
		}
		out, code := python(t, folder, "--key", w.prover.Key())
		Same(t, code, 0, out)
		Like(t, out, Containing("receipts     4, of which 3 are sealed"), Containing("verified"), Lacking("NOT"))
		page, err := os.ReadFile(filepath.Join(folder, "index.html"))
		NoError(t, err)
		Like(t, string(page), Containing("&lt;b&gt;with&lt;/b&gt;"), Containing("about retry"), Containing("erased"),
			Lacking("10,000 need"), Lacking("https://"), Lacking("somebody else"))
	})
}

func TestTamperingWithEvidenceIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		archive := w.evidence()
		_, names := unpack(t, archive)
		for _, name := range names {
			folder, _ := unpack(t, archive)
			path := filepath.Join(folder, name)
			data, err := os.ReadFile(path)
			NoError(t, err)
			if name == "verify.py" {
				data = append(data, "\n# changed\n"...)
			} else {
				at := len(data) / 2
				data = append(data[:at:at], append([]byte{data[at] ^ 1}, data[at+1:]...)...)
			}
			NoError(t, os.WriteFile(path, data, 0o644))
			out, code := python(t, folder, "--key", w.prover.Key())
			if code != 1 || !strings.Contains(out, "NOT VERIFIED") {
				t.Errorf("%s was changed, and that is not found: code %d, %s", name, code, out)
			}
		}
		folder, _ := unpack(t, archive)
		NoError(t, os.WriteFile(filepath.Join(folder, "receipts", "r1-99.json"), nil, 0o644))
		NoError(t, os.Remove(filepath.Join(folder, "receipts", "r1-2.json")))
		out, code := python(t, folder, "--key", w.prover.Key())
		Same(t, code, 1, out)
		Like(t, out, Containing("r1-99.json: it does not belong"), Containing("r1-2.json: it is missing"))
		folder, _ = unpack(t, archive)
		if out, code := python(t, folder, "--key", Prover(t, w.DB, w.Log, w.Followers, time.Minute).Key()); code != 1 {
			t.Errorf("another key is trusted: %s", out)
		}
	})
}

// Who has the signing key can sign another list of files, and is found by the log and the seals.
func TestTamperingWithSignedEvidenceIsFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		archive := w.evidence()
		for change, finding := range map[[3]string]string{
			{"receipts/r1-1.json", "„five“", "„six“"}:                            "the wording is not what the log says",
			{"receipts/r1-1.json", `"task":"about`, `"task":"on`}:                "the task is not what the log says",
			{"receipts/r1-1.json", `"user:ann"`, `"user:bo"`}:                    "the receipt that was sealed is another one",
			{"receipts/r1-1.json", `"score":0.`, `"score":0.9`}:                  "the answer is not the one that was given",
			{"receipts/r1-1.json", `"id":"retry"`, `"id":"else"`}:                "the log has another item",
			{"receipts/r1-1.json", `"history":"`, `"history":"00`}:               "the history of the item is not the one",
			{"receipts/r1-1.json", `"session":"s-1"`, `"session":"x"`}:           "the answer is not the one that was given",
			{"proofs/r1-1.json", "payments", "refunds"}:                          "the question is not the one that was asked",
			{"proofs/r1-1.json", `"index":0`, `"index":1`}:                       "it is not as it was sealed",
			{"proofs/r1-1.json", `"position":`, `"position":1`}:                  "the event that seals it is missing",
			{"events/", "„five“", "„six“"}:                                       "its text is not the one that was recorded",
			{"events/", `"actor":"user:`, `"actor":"bot:`}:                       "the event is not the one with its hash",
			{"events/", `annals.example/default\n`, `annals.example/default\n1`}: "the checkpoint is not signed by the key",
		} {
			folder, names := unpack(t, archive)
			at := slices.IndexFunc(names, func(name string) bool {
				text, err := os.ReadFile(filepath.Join(folder, name))
				NoError(t, err)
				return strings.HasPrefix(name, change[0]) && strings.Contains(string(text), change[1])
			})
			if at < 0 {
				t.Fatalf("no file %s has %s", change[0], change[1])
			}
			path := filepath.Join(folder, names[at])
			before, err := os.ReadFile(path)
			NoError(t, err)
			after := strings.Replace(string(before), change[1], change[2], 1)
			NoError(t, os.WriteFile(path, []byte(after), 0o644))
			w.sign(folder, names[at], []byte(after))
			out, code := python(t, folder, "--key", w.prover.Key())
			Same(t, code, 1, out)
			Like(t, out, Containing("NOT VERIFIED "), Containing(finding))
		}
	})
}

// sign notes another content of a file in the manifest, and signs that.
func (w *world) sign(folder, name string, content []byte) {
	w.T.Helper()
	path := filepath.Join(folder, "manifest.json")
	manifest, err := os.ReadFile(path)
	NoError(w.T, err)
	line := regexp.MustCompile(`"` + regexp.QuoteMeta(name) + `": "[0-9a-f]+"`)
	manifest = line.ReplaceAll(manifest, fmt.Appendf(nil, `"%s": "%x"`, name, sha256.Sum256(content)))
	note, err := w.prover.Endorse(fmt.Sprintf("annals evidence 1\n%x\n", sha256.Sum256(manifest)))
	NoError(w.T, errors.Join(err, os.WriteFile(path, manifest, 0o644),
		os.WriteFile(filepath.Join(folder, "manifest.sig"), []byte(note), 0o644)))
}
