package proof_test //nolint:lll // tables of test data

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/proof"
)

// export is an export's lines.
func (w *world) export(x domain.Export) []string {
	w.t.Helper()
	x.Tenant = w.by.Tenant
	var out bytes.Buffer
	noError(w.t, w.prover.Export(w.t.Context(), x, &out))
	return strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// verifyLines is what a verification of a file of these lines states.
func (w *world) verifyLines(lines ...string) *proof.Report {
	w.t.Helper()
	text := strings.Join(lines, "")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return w.verifyText(text)
}

func (w *world) verifyText(text string) *proof.Report {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "log.ndjson")
	noError(w.t, os.WriteFile(path, []byte(text), 0o600))
	report := must(proof.VerifyFile(w.t.Context(), path, proof.Verification{Keys: []string{w.key.Public()}}))(w.t)
	return report
}

func TestAnExportVerifiesWithNothingButItselfAndTheKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.grow()
		finds(t, w.verifyLines(append(w.export(domain.Export{Texts: true}), "")...))

		w.signed(func() { w.live(5) })
		w.signed(w.live3)
		w.remember("secret")
		w.erase("secret")
		w.grow()
		for _, x := range []domain.Export{
			{Texts: true},
			{},
			{After: 7, Texts: true},
			{After: 7},
			{Through: 13, Texts: true},
			{After: 3, Through: 16},
			{After: 22},
			{After: 10, Through: 11, Texts: true},
			{Through: 21, Texts: true},
		} {
			lines := w.export(x)
			report := w.verifyLines(lines...)
			if finds(t, report); t.Failed() {
				t.Fatalf("%+v", x)
			}
			if through := max(x.Through, 0); through > 0 && report.Tenants[0].Signed != through || int64(len(lines)-1) != report.Events() {
				t.Errorf("%+v: got %+v of %d lines", x, report.Tenants[0], len(lines))
			}
		}
		if got := w.verifyLines(w.export(domain.Export{Texts: true})...).Tenants[0]; got.Erased != 1 || got.Texts != 20 || got.Checkpoints != 3 {
			t.Errorf("got %+v", got)
		}
		finds(t, w.verify(proof.Verification{}))
	})
}

func TestAnExportThatWasTamperedWithIsFoundAndNamed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.signed(func() { w.live(5) })
		w.live3()
		w.grow()
		whole := w.export(domain.Export{Texts: true})
		forger := w.signingWith(newKey(t, "annals.example"))
		forged := forger.export(domain.Export{Texts: true})
		w.rewrite(6)
		rewritten := w.lineAt(6)

		in := func(position int, from, to string) func([]string) []string {
			return func(lines []string) []string {
				changed := strings.Replace(lines[position-1], from, to, 1)
				if changed == lines[position-1] {
					t.Errorf("line %d has no %q: %s", position, from, lines[position-1])
				}
				lines[position-1] = changed
				return lines
			}
		}
		for name, c := range map[string]struct {
			tamper func(lines []string) []string
			wanted []string
		}{
			"data":                     {in(4, `\"voter\"`, ` \"voter\"`), []string{"hash 4 the record is not what was recorded"}},
			"actor":                    {in(4, `"actor":"user:default"`, `"actor":"user:defaulu"`), []string{"hash 4 the record is not what was recorded"}},
			"tenant":                   {in(4, `"tenant":"default"`, `"tenant":"defaulu"`), []string{"hash 4 the record is not what was recorded"}},
			"no request":               {in(4, `"request_id":"r-1",`, ""), []string{"hash 4 the record is not what was recorded"}},
			"text":                     {in(4, `worked`, `worker`), []string{"text 4 the text is not what was written"}},
			"repeated key":             {in(4, `{"tenant":`, `{"stream":"x","tenant":`), []string{"export 4 line 4 cannot be read: it is not JSON as an export has it: it has a repeated or unknown key"}},
			"unknown key":              {in(4, `,"text":`, `,"texu":`), []string{"export 4 line 4 cannot be read: it is not JSON as an export has it: it cannot be read, or has an unknown key"}},
			"upper-case key":           {in(4, `,"text":`, `,"Text":`), []string{"export 4 line 4 cannot be read: it is not JSON as an export has it: it has a repeated or unknown key"}},
			"repeated in the manifest": {in(21, `"format":`, `"count":1,"format":`), []string{"export 0 the file breaks off"}},
			"no salt": {func(l []string) []string {
				l[3] = regexp.MustCompile(`,"salt":"[0-9a-f]+"`).ReplaceAllString(l[3], "")
				return l
			}, []string{"text 4 the text has no salt"}},
			"neither":       {func(l []string) []string { l[3] = l[3][:strings.Index(l[3], `,"salt":`)] + "}\n"; return l }, []string{"text 4 the text is missing, and no event says"}},
			"not JSON":      {in(4, `{`, `[`), []string{"export 4 line 4 cannot be read"}},
			"dropped":       {func(l []string) []string { return slices.Delete(l, 3, 4) }, []string{"missing 4 the event is missing"}},
			"first dropped": {func(l []string) []string { return slices.Delete(l, 0, 1) }, []string{"missing 1 the event is missing"}},
			"last dropped": {
				func(l []string) []string { return slices.Delete(l, 19, 20) },
				[]string{"export 19 the manifest says that it holds 20 events up to position 20, and it holds 19 up to position 19"},
			},
			"inserted":      {func(l []string) []string { return slices.Insert(l, 4, l[3]) }, []string{"order 4 it comes after position 4"}},
			"reordered":     {func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, []string{"missing 4", "order 4 it comes after position 5"}},
			"cut in half":   {func(l []string) []string { return l[:10] }, []string{"export 0 the file breaks off: its last line is no manifest"}},
			"cut in a line": {func(l []string) []string { l[9] = l[9][:40]; return append(l[:10], "") }, []string{"export 0 the file breaks off"}},
			"empty":         {func([]string) []string { return []string{"", ""} }, []string{"export 0 the file breaks off"}},
			"another's manifest": {
				func(l []string) []string { l[20] = forged[20]; return l },
				[]string{"signature 20 a checkpoint is not to be trusted: not signed by a trusted key: the signature is by annals.example+"},
			},
			"another tenant's manifest": {in(21, `"tenant":"default"`, `"tenant":"umbrella"`), []string{"signature 20 a checkpoint is of another log"}},
			"another root":              {in(21, `"root":"`, `"root":"AAAA`), []string{"export 0 the file breaks off"}},
			"a swapped signature":       {in(21, `— annals.example `, `— annals.example A`), []string{"signature 20 a checkpoint is not to be trusted"}},
			"rewritten with its hash": {
				func(l []string) []string { l[5] = rewritten; return l },
				[]string{"checkpoint 10 annals.example/default signed another tree of 10 events: something at the positions 1 to 10 was changed since", "checkpoint 20 the events at the positions 1 to 20 are not those that were signed"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				w := *w
				w.t = t
				lines := c.tamper(slices.Clone(whole))
				if name == "cut in a line" || name == "empty" {
					finds(t, w.verifyText(strings.Join(lines, "")), c.wanted...)
					return
				}
				finds(t, w.verifyLines(lines...), c.wanted...)
			})
		}
	})
}

// lineAt is the line of an export of one position, as it is stored now.
func (w *world) lineAt(position int64) string {
	w.t.Helper()
	return w.export(domain.Export{After: position - 1, Through: position, Texts: true})[0]
}

// erase destroys what people wrote about an item.
func (w *world) erase(id string) {
	w.t.Helper()
	command := must(domain.Erase{Target: domain.Target{By: w.by, ID: id}}.Complete())(w.t)
	w.submit(command)
}

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
