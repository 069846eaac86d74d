package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/rebuild"
)

type VerifyCommand struct {
	serve.Storage
	serve.Logging

	File string `arg:"" optional:"" complete:"file"`

	Key        []string `env:"ANNALS_LOG_KEYS" placeholder:"KEY"`
	Checkpoint []string `complete:"file" placeholder:"FILE"`
	Answers    bool
}

func (v *VerifyCommand) Run(ctx context.Context, c *terminal.Console) error {
	verification, err := v.verification()
	if err != nil {
		return err
	}
	bar := terminal.Watch(c, "verifying")
	verification.Progress = bar.Set
	report, err := v.verify(ctx, c, verification)
	bar.End()
	switch {
	case errors.Is(err, proof.ErrKey):
		return terminal.Wrong("as in --key annals+6d1a0b3c+AfK…, which annals proof key prints", "%s", err)
	case errors.Is(err, proof.ErrCheckpoint):
		return terminal.Wrong("it is the text that annals proof checkpoint prints", "%s", err)
	case err != nil || report == nil:
		return err
	}
	return report.print(c)
}

// verify verifies a log, or prints the result about a proof.
func (v *VerifyCommand) verify(
	ctx context.Context, c *terminal.Console, verification proof.Verification,
) (*verified, error) {
	if v.File == "" {
		return v.verifyDatabase(ctx, c, verification)
	}
	if v.Answers {
		return nil, terminal.Wrong("leave out the file, or --answers", "a file holds a log, and no answers")
	}
	const made = "name the file that annals export log, annals proof or annals erase --certificate made"
	if file, err := os.Stat(v.File); err != nil {
		return nil, terminal.Wrong(made, "the file cannot be read: %s", err)
	} else if file.Mode().IsRegular() && file.Size() == 0 {
		return nil, terminal.Wrong(made, "%s is empty: there is nothing in it to verify", v.File)
	}
	if len(verification.Keys) == 0 {
		return nil, terminal.Wrong("annals proof key prints it; ask for it over a way that you trust",
			"a file is verified with a public key: name it with --key")
	}
	if continuation, is := proof.ReadContinuation(v.File); is {
		if len(v.Checkpoint) > 0 {
			return nil, beside("a proof between two checkpoints")
		}
		return nil, verifyContinuation(c, continuation, verification.Keys)
	}
	switch proofs, is, err := proof.ReadProofs(v.File); {
	case is && err != nil:
		return nil, notVerified(err, "annals report known --output FILE writes one")
	case is && len(v.Checkpoint) > 0:
		return nil, beside("the proofs of some events")
	case is:
		return nil, verifyProofs(c, proofs, verification.Keys)
	}
	switch certificate, is, err := proof.ReadCertificate(v.File); {
	case errors.Is(err, proof.ErrNeither):
		return nil, terminal.Wrong("annals export log, annals proof event --json, annals proof consistency --json "+
			"and annals erase --certificate print what can be verified", "%s", err)
	case !is && err != nil:
		return nil, terminal.Wrong(made, "the file cannot be read: %s", err)
	case is && err != nil:
		return nil, notVerified(err, "annals erase --certificate ID prints one, and annals export log an export")
	case is && len(v.Checkpoint) > 0:
		return nil, beside("the proof of one event")
	case is:
		return nil, verifyCertificate(c, certificate, verification.Keys)
	}
	report, err := proof.VerifyFile(ctx, v.File, verification)
	if errors.Is(err, proof.ErrApart) {
		return nil, terminal.Wrong("annals export log exports the log from its beginning; "+continues, "%s", err)
	}
	return &verified{Report: report}, notAFinding(err)
}

const continues = "annals proof consistency FILE asks the server whether its log continues that checkpoint"

// beside refuses --checkpoint for an input that cannot be compared with it.
func beside(what string) error {
	return terminal.Wrong("leave out --checkpoint; "+continues,
		"%s cannot be held against a checkpoint that was kept elsewhere: only a log can", what)
}

func (v *VerifyCommand) verifyDatabase(
	ctx context.Context, c *terminal.Console, verification proof.Verification,
) (_ *verified, err error) {
	storage := v.Opened(c)
	if len(verification.Keys) == 0 {
		verification.Keys = signing.PublicKeys(storage.Data)
	}
	db, err := database.OpenReadOnly(ctx, storage.Database, v.Logger(c))
	if err != nil {
		return nil, notAFinding(err)
	}
	defer func() { err = notAFinding(errors.Join(err, db.Close())) }()
	if err := errors.Join(serve.CheckSchema(ctx, db), serve.CheckTriggers(ctx, db)); err != nil {
		return nil, err
	}
	report, err := proof.Verify(ctx, db, verification)
	isSigned := func(t *proof.Tenant) bool { return t.Checkpoints > 0 }
	if err == nil && len(verification.Keys) == 0 && report.Verified && slices.ContainsFunc(report.Tenants, isSigned) {
		return nil, terminal.Wrong("name one with --key or ANNALS_LOG_KEYS, or with --data the directory that holds it; "+
			"annals proof key prints it",
			"the log has signed checkpoints, and no public key is known that tells whether they are genuine")
	}
	if err != nil || !v.Answers {
		return reportOf(report), err
	}
	bar := terminal.Watch(c, "comparing")
	checked, err := projections.Check(ctx, db, projections.Settings{Logger: v.Logger(c)}, bar.Set)
	bar.End()
	if err != nil {
		return nil, fmt.Errorf("compare the projection with the log: %w", err)
	}
	report.Verified = report.Verified && len(checked.Wrong) == 0
	found := reportOf(report)
	found.Answers = &checked
	return found, nil
}

// reportOf is the result for a database, whose newest events may not be signed yet.
func reportOf(report *proof.Report) *verified {
	if report == nil {
		return nil
	}
	return &verified{Report: report, Unsigned: report.Unsigned()}
}

// notAFinding changes the exit code of an error that prevented the verification, so that it differs from that of a
// finding. A damaged database is a finding.
func notAFinding(err error) error {
	if err == nil || errors.Is(err, database.ErrDamaged) || errors.Is(err, proof.ErrKey) || errors.Is(err,
		proof.ErrCheckpoint) {
		return err
	}
	f := *terminal.AsFailure(err)
	if f.Code == terminal.ExitFailed {
		f.Code = terminal.ExitUnavailable
	}
	return &f
}

// verified is the result about a log and its projection.
type verified struct {
	*proof.Report

	Unsigned int64            `json:"unsigned"` // the newest events without a checkpoint
	Answers  *rebuild.Checked `json:"answers,omitempty"`
}

// verification reads the keys and the checkpoints, also from files.
func (v *VerifyCommand) verification() (proof.Verification, error) {
	var all proof.Verification
	for _, key := range v.Key {
		if text, err := os.ReadFile(key); err == nil {
			held := strings.Fields(string(text))
			if len(held) == 0 {
				return all, terminal.Wrong("annals proof key prints one", "%s is empty: there is no key in it", key)
			}
			all.Keys = append(all.Keys, held...)
			continue
		} else if !strings.Contains(key, "+") {
			return all, terminal.Wrong("as in --key annals+6d1a0b3c+AfK…, which annals proof key prints, or a file that "+
				"holds it",
				"the key cannot be read: %s", err)
		}
		all.Keys = append(all.Keys, key)
	}
	for _, name := range v.Checkpoint {
		text, err := checkpointIn(name)
		if err != nil {
			return all, err
		}
		all.Checkpoints = append(all.Checkpoints, text)
	}
	return all, nil
}

// unproven says that a proof does not hold, or that the key is the wrong one.
func unproven(err error) error {
	if errors.Is(err, proof.ErrKey) {
		return err
	}
	return notVerified(err, "")
}

func verifyContinuation(c *terminal.Console, continuation proof.Continuation, keys []string) error {
	earlier, later, err := continuation.Check(keys...)
	switch {
	case err != nil:
		return unproven(err)
	case c.JSON:
		return c.Document(map[string]any{"verified": true, "from": earlier.Size, "to": later.Size, "origin": later.Origin})
	}
	c.Say("%s: %s had %d events, and the first %d are those that were signed earlier",
		terminal.Green.Render("verified"), later.Origin, later.Size, earlier.Size)
	return nil
}

func verifyCertificate(c *terminal.Console, certificate proof.Certificate, keys []string) error {
	checkpoint, err := certificate.Check(keys...)
	switch {
	case err != nil:
		return unproven(err)
	case c.JSON:
		return c.Document(map[string]any{
			"verified": true, "event_id": certificate.EventID, "position": certificate.Position,
			"hash": certificate.Hash, "record": certificate.Record, "origin": checkpoint.Origin, "size": checkpoint.Size,
		})
	}
	c.Say("%s: at position %d of %s, which had %d events, is the event with the hash %s",
		terminal.Green.Render("verified"), certificate.Position, checkpoint.Origin, checkpoint.Size, certificate.Hash)
	if what, fields := certificate.Says(); what != "" {
		c.Say("it says: %s\n%s", what, fields)
	}
	return nil
}

// verifyProofs verifies a report, and prints what the proven events say, since the readable part may say otherwise.
func verifyProofs(c *terminal.Console, proofs proof.Proofs, keys []string) error {
	checkpoint, err := proofs.Check(keys...)
	switch {
	case err != nil:
		return unproven(err)
	case c.JSON:
		var items []map[string]any
		for _, certificate := range proofs.Events {
			items = append(items, map[string]any{"position": certificate.Position, "record": certificate.Record})
		}
		return c.Document(map[string]any{
			"verified": true, "about": proofs.About, "on": proofs.On, "origin": checkpoint.Origin, "items": items,
		})
	}
	for _, certificate := range proofs.Events {
		if what, fields := certificate.Says(); what != "" {
			c.Say("%d: %s\n%s", certificate.Position, what, fields)
		}
	}
	c.Say("%s: %s has these %s. What the file says besides is not proven",
		terminal.Green.Render("verified"), checkpoint.Origin, terminal.Several(len(proofs.Events), "event"))
	return nil
}

// print shows what was verified and what is wrong.
func (v *verified) print(c *terminal.Console) error {
	if c.JSON {
		if err := c.Document(v); err != nil {
			return err
		}
	} else {
		v.printFindings(c)
	}
	switch {
	case v.Verified:
		return nil
	case v.BreaksOff:
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "not verified: the file is incomplete, and nothing of it was compared",
			Fix: "export it again with annals export log, or copy the whole of it",
		}
	case v.Count == 0:
		return &terminal.Failure{
			Code:   terminal.ExitFailed,
			Detail: "not verified: the log is as it was recorded, and what is answered is not what it says",
			Fix: "annals rebuild knowledge --repair computes the answers anew; annals history shows what the log says of " +
				"an item",
		}
	}
	if slices.IndexFunc(v.Faults, func(f proof.Fault) bool { return f.Kind != proof.Signature }) < 0 {
		return &terminal.Failure{
			Code:   terminal.ExitFailed,
			Detail: fmt.Sprintf("not verified: not signed by a trusted key: %s", terminal.Several(int(v.Count), "checkpoint")),
			Fix: "if you trust the signer, name that key, too, with --key; annals proof key prints a server's. " +
				"Otherwise another party wrote this log",
		}
	}
	return &terminal.Failure{
		Code: terminal.ExitFailed, Detail: fmt.Sprintf("not verified: %s", terminal.Several(int(v.Count), "difference")),
		Fix: "keep a copy of what you have; a backup from before says what was there",
	}
}

func (v *verified) printFindings(c *terminal.Console) {
	report := v.Report
	if report.BreaksOff {
		c.Say("%s: its last lines are missing, which say what it should hold", terminal.Red.Render("the file breaks off"))
		return
	}
	if len(report.Faults) > 0 {
		rows := terminal.NewTable("TENANT", "POSITION", "WHAT", "FINDING")
		for _, fault := range report.Faults {
			rows.Row(fault.Tenant, fmt.Sprint(fault.Position), terminal.Red.Render(fault.Kind), fault.Message)
		}
		c.Table(rows)
		if more := report.Count - int64(len(report.Faults)); more > 0 {
			c.Say("and %s more", humanize.Comma(more))
		}
	}
	rows := terminal.NewTable("TENANT", "EVENTS", "POSITIONS", "TEXTS", "ERASED", "CHECKPOINTS", "SIGNED UP TO")
	for _, t := range report.Tenants {
		positions := fmt.Sprintf("%d–%d", t.From, t.Through)
		rows.Row(t.Tenant, t.Events, positions, t.Texts, t.Erased, t.Checkpoints, fmt.Sprint(t.Signed))
	}
	if len(report.Tenants) > 0 {
		c.Table(rows)
	}
	for _, what := range report.Unchecked {
		c.Say("%s %s", terminal.Amber.Render("not checked"), what)
	}
	if v.Answers != nil {
		v.printAnswers(c)
	}
	if report.Count > 0 {
		return
	}
	word := terminal.Green.Render("verified")
	if !v.Verified { // the answers are wrong
		word = "the log"
	}
	unsigned := ""
	if v.Unsigned > 0 {
		unsigned = fmt.Sprintf("; not signed yet: %s", humanize.Comma(v.Unsigned))
	}
	c.Say("%s: %s in %s, all as they were recorded%s",
		word, terminal.Several(int(report.Events()), "event"), report.Took.Round(time.Millisecond), unsigned)
}

func (v *verified) printAnswers(c *terminal.Console) {
	for _, what := range v.Answers.Wrong {
		c.Say("%s %s", terminal.Red.Render("answers"), what)
	}
	for _, what := range v.Answers.Unchecked {
		c.Say("%s %s", terminal.Amber.Render("not compared"), what)
	}
	if len(v.Answers.Wrong) == 0 {
		c.Say("%s: %s items and what else was compared are what the log says",
			terminal.Green.Render("compared"), humanize.Comma(v.Answers.Items))
	}
}
