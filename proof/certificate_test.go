package proof_test //nolint:lll // tables of test data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/annals-kb/annals/proof"
)

func TestWhatIsWrongWithACertificateIsSaid(t *testing.T) {
	t.Parallel()
	const whole = `{"event_id":"e","position":1,"hash":"00","path":[],"checkpoint":{"note":"n"}}`
	for name, c := range map[string]struct {
		text, wrong string
		is          bool
	}{
		"whole":              {whole, "", true},
		"over many lines":    {strings.ReplaceAll(whole, ",", ",\n  "), "", true},
		"an export":          {`{"tenant":"default","position":1}` + "\n", "", false},
		"cut short":          {whole[:len(whole)-4], "the certificate was changed or breaks off: it is no JSON any more", true},
		"without its hash":   {strings.Replace(whole, `"hash":"00",`, "", 1), "the certificate has no hash", true},
		"without its path":   {strings.Replace(whole, `"path":[],`, "", 1), "the certificate has no path", true},
		"not signed":         {strings.Replace(whole, `,"checkpoint":{"note":"n"}`, "", 1), "the certificate has no checkpoint", true},
		"an empty signature": {strings.Replace(whole, `"n"`, `""`, 1), "the certificate's checkpoint has no note, which is what was signed", true},
		"another type":       {strings.Replace(whole, `:1,`, `:"1",`, 1), "the certificate's position is a string, and should be none", true},
		"another document":   {`{"id":"retry-advice","type":"strategy"}`, "the file is neither an exported log, nor the proof of an event, nor the certificate of an erasure", true},
		"no document":        {"annals.example/default\n17\n", "the file is neither an exported log, nor the proof of an event, nor the certificate of an erasure", true},
	} {
		path := filepath.Join(t.TempDir(), "file")
		noError(t, os.WriteFile(path, []byte(c.text), 0o600))
		_, is, err := proof.ReadCertificate(path)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if is != c.is || said != c.wrong {
			t.Errorf("%s: got %v, %q, want %v, %q", name, is, said, c.is, c.wrong)
		}
	}
}
