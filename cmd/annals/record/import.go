package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/agents"  // part: agents
	"github.com/annals-kb/annals/cmd/annals/foreign" // part: foreign
	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/markdown"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

type ImportCommand struct {
	terminal.Remote

	File      string   `arg:"" complete:"file"`
	Format    string   `enum:",records,sessions,markdown,mem0,letta,graphiti" default:"" placeholder:"FORMAT"`
	Map       []string `sep:"none" placeholder:"FOLDER=SCOPE"`
	Root      string   `placeholder:"NAME"`
	DryRun    bool
	Decisions bool
	Update    bool
	Reason    string        `placeholder:"TEXT"`
	Errors    string        `complete:"file" placeholder:"FILE"`
	Patience  time.Duration `least:"0s" default:"30s"`
	Parallel  int           `default:"1" placeholder:"N"`
}

// aLine is an example of a line.
const aLine = `{"type":"strategy","content":"Retry 429s with jitter"}`

func (i *ImportCommand) Validate() error {
	const most = 8
	if i.Parallel < 1 || i.Parallel > most {
		return terminal.Wrong("", "--parallel must be 1 to %d", most)
	}
	if i.Reason != "" && !i.Update {
		return terminal.Wrong("add --update, or leave it out", "--reason is for what --update revises")
	}
	return nil
}

func (i *ImportCommand) Run(ctx context.Context, c *terminal.Console) error {
	i.Remote.Patience = i.Patience
	file := serve.DatabaseAt(i.File)
	if file != "" {
		i.Format = "records"
	}
	if i.Format == "" || i.Format == "sessions" {
		if is, err := agents.Import(ctx, c, &i.Remote, i.File, i.DryRun); is { // part: agents
			return err // part: agents
		} // part: agents
		if i.Format != "" {
			return terminal.Wrong("name a folder such as ~/.claude/projects, or a .jsonl file in it",
				"%s has no sessions of agents", i.File)
		}
	}
	from, err := markdown.Open(i.File, markdown.Forms{
		Named:  i.Format,
		Root:   i.Root,
		Others: foreign.Programs{Decisions: i.Decisions}, // part: foreign
	})
	if err != nil {
		return err
	}
	if from == nil && (i.DryRun || len(i.Map) > 0 || i.Root != "") {
		return terminal.Wrong("--dry-run, --map and --root are for Markdown, and for what other programs export",
			"%s is in the form of annals export", i.File)
	}
	if from != nil {
		if from.Scope, err = i.scopes(); err != nil {
			return err
		}
	}
	server, err := i.Connect()
	if err != nil {
		return err
	}
	var me *domain.Principal // of an import of notes
	if from != nil {
		found, err := server.Whoami(ctx)
		if err != nil {
			return err
		}
		me = callerOf(found)
		if from.Caller = cmp.Or(found.OnBehalfOf, found.Subject); i.DryRun {
			return i.plan(ctx, c, server, from, *me)
		}
	} else if _, err := server.Patient(0).Health(ctx); err != nil {
		if !errors.Is(err, client.ErrUnavailable) || terminal.AsFailure(err).Status == 0 {
			return err
		}
	}
	s, notes := summary{began: time.Now(), Redacted: knowledge.Redactions{}}, []markdown.Item(nil)
	known := func(item markdown.Item) { notes = append(notes, item) }
	all := []source{{path: i.File, name: fileName(i.File), other: from, known: known}}
	var differing []markdown.Item
	if file != "" {
		copied, done, err := serve.OpenCopy(ctx, c, file)
		if err != nil {
			return err
		}
		defer done()
		q := client.Get("v1", "knowledge")
		q.Header = http.Header{"Accept": {asLines}, "Annals-Tenant": {i.Tenant}}
		if c.In, err = copied.Open(ctx, q); err != nil {
			return err
		}
		all[0].path = "-" // its items are read as standard input is
	} else if from != nil {
		all[0].notes, all[0].me, s.notes = true, me, true
		all[0].differs = func(item markdown.Item) { differing = append(differing, item) }
	} else if all, s.LeftOut, err = inputs(i.File); err != nil {
		return err
	}
	failures, err := keepFailures(c, i.Errors, all)
	if err != nil {
		return err
	}
	s.kept = failures
	run, stopped := importRun(), error(nil)
	for _, from := range all {
		if stopped = i.importFrom(ctx, c, server, from, run, &s, failures); stopped != nil {
			break
		}
	}
	if from != nil && stopped == nil {
		s.Unread = from.Unread
		known, copies, doubtful := originals(notes)
		for _, note := range doubtful {
			s.refuse(note, doubt(note))
		}
		if all[0].text, stopped = i.toRevise(ctx, server, differing, &s); stopped == nil && len(all[0].text) > 0 {
			i.Update, all[0].other, all[0].differs, all[0].me = true, nil, nil, nil
			stopped = i.importFrom(ctx, c, server, all[0], run, &s, failures)
		}
		if stopped == nil {
			stopped = errors.Join(i.revise(ctx, c, server, known, &s), i.copied(ctx, c, server, copies, &s))
		}
	}
	if err := failures.close(); err != nil && stopped == nil {
		stopped = err
	}
	if stopped == nil || s.Lines > 0 || c.JSON {
		if err := s.print(c, failures); err != nil {
			return err
		}
	}
	return s.verdict(stopped)
}

// importFrom imports one file. If a file of a directory cannot be read, the import continues with the others.
func (i *ImportCommand) importFrom(
	ctx context.Context, c *terminal.Console, server *client.Client, from source, run string, s *summary,
	failures *failures,
) error {
	input, size, err := from.open(ctx, c)
	if err != nil && ctx.Err() == nil && from.laid != "" {
		s.Torn = append(s.Torn, tornFile{from.laid, from.broken(err).Error()})
		return nil
	}
	if err != nil {
		return err
	}
	defer input.Close() //nolint:errcheck // it was only read
	if err := failures.begin(); err != nil {
		return err
	}
	phase, records, read := terminal.Joined(" ", "importing", from.laid), int64(0), int64(0)
	progress := terminal.Watch(c, phase)
	defer progress.End()
	sender := &sender{
		Server: server.Patient(0), who: terminal.Joined(" for ", i.As, i.OnBehalfOf), from: from, run: run,
		update: i.Update, reason: i.Reason, me: from.me, Patience: i.Patience,
	}
	m := &importer{from: from, send: sender.Send, parallel: i.Parallel}
	if i.Update {
		m.parallel = 1 // the later of two lines about an item must win
	}
	err = m.run(ctx, input, func(b Batch, answers []lineAnswer) error {
		records, read = records+int64(len(b.Records)), read+b.size()
		progress.Show(phase, fmt.Sprintf("%s: %s records", phase, humanize.Comma(records)), read, size)
		for n, answer := range answers {
			var item markdown.Item
			why := answer.Why()
			taken := from.differs != nil && why != nil && why.Status == http.StatusConflict
			if taken && json.Unmarshal(b.Records[n].Raw, &item) == nil {
				from.differs(item)
				continue
			}
			s.count(answer.Status)
			s.Redacted.Add(answer.Redacted)
			if why != nil {
				s.blame(why)
				if err := failures.add(from, b.Records[n], answer); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if m.torn != nil && err == nil && from.laid != "" {
		s.Torn = append(s.Torn, tornFile{from.laid, m.torn.Error()})
		return nil
	}
	return errors.Join(err, m.torn)
}

// summary is the result of an import.
type summary struct {
	Lines     int     `json:"lines"`
	Created   int     `json:"created"`
	Unchanged int     `json:"unchanged"`
	Revised   int     `json:"revised"`
	Proposed  int     `json:"proposed,omitempty"` // they wait for a steward
	Failed    int     `json:"failed"`
	Seconds   float64 `json:"seconds"`

	Redacted knowledge.Redactions `json:"redacted,omitempty"` // by class, in all lines
	Failures []failedLine         `json:"failures,omitempty"` // the first ones
	Torn     []tornFile           `json:"torn,omitempty"`     // of a directory
	Unread   []markdown.Unread    `json:"unread,omitempty"`   // files of another program

	Conflicts []conflict     `json:"conflicts,omitempty"`
	LeftOut   map[string]int `json:"left_out,omitempty"` // of a directory: the number of omitted files by kind

	began                 time.Time
	kept                  *failures
	refused               int  // of the failed ones: they are among the unread
	notes                 bool // the lines are items of files of another program
	bad, taken, otherwise bool // why lines failed: invalid content, a taken id, or another reason
}

// tornFile is a file that could not be read to its end.
type tornFile struct {
	File   string `json:"file"`
	Detail string `json:"detail"`
}

func (s *summary) count(status string) {
	s.Lines++
	switch status {
	case "created":
		s.Created++
	case "proposed":
		s.Proposed++
	case "unchanged":
		s.Unchanged++
	case "revised", "recorded":
		s.Revised++
	default:
		s.Failed++
	}
}

// blame notes why a line failed, for the advice at the end.
func (s *summary) blame(why *terminal.Failure) {
	switch why.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		s.bad = true
	case http.StatusConflict:
		s.taken = true
	default:
		s.otherwise = true
	}
}

// advice tells what to do about failed lines.
func (s *summary) advice() string {
	var parts []string
	if s.notes {
		return "mend the files that are named, or see what is said of each"
	}
	if s.bad {
		parts = append(parts, "mend what is bad (a line is like "+aLine+")")
	}
	if s.taken {
		parts = append(parts, "choose other ids where they are taken, or add --update to revise what still holds there")
	}
	if s.otherwise {
		parts = append(parts, "see what is said of each")
	}
	return strings.Join(parts, ", ")
}

func (s *summary) print(c *terminal.Console, f *failures) error {
	s.Seconds = float64(time.Since(s.began).Round(time.Millisecond)) / float64(time.Second)
	if c.JSON {
		s.Failures = f.first
		return c.Document(s)
	}
	f.print(c, s.Failed-s.refused)
	if len(s.Torn) > 1 { // a single one is in the failure itself
		for _, torn := range s.Torn {
			c.Note("%s", torn.Detail)
		}
	}
	c.Say("%d created · %d unchanged · %d revised · %d failed · in %.1f s",
		s.Created, s.Unchanged, s.Revised, s.Failed, s.Seconds)
	if s.Proposed > 0 {
		c.Say("%d proposed: others see them when a steward has accepted them", s.Proposed)
	}
	s.Redacted.Print(c)
	markdown.PrintUnread(c, s.Unread)
	for _, both := range s.Conflicts {
		of := "another text"
		if both.Revision > 0 {
			of = fmt.Sprintf("edits of revision %d", both.Revision)
		}
		c.Note("changed on both sides: %s has %s, and %s has revision %d now", strings.TrimPrefix(both.File, "file:"), of,
			both.ID, both.Now)
	}
	if len(s.LeftOut) > 0 {
		c.Note("left out, since it is no file in the directory that ends in %s: %s", strings.Join(endings, ", "),
			leftOut(s.LeftOut))
	}
	return nil
}

// verdict is the error of the import: what stopped it, or else the failed lines.
func (s *summary) verdict(stopped error) error {
	if stopped != nil {
		f := *terminal.AsFailure(stopped)
		if s.Lines == 0 && f.Code == terminal.ExitUsage {
			return &f
		}
		f.Detail = fmt.Sprintf("stopped after %s: %s", terminal.Several(s.Lines, "line"), f.Detail)
		f.Fix = terminal.Joined(", then ", f.Fix,
			"run the same command again: what was imported already is recognised and stays unchanged")
		return &f
	}
	const again = "and run the same command again: what is there already stays unchanged"
	lines := fmt.Sprintf("%d of %d lines failed", s.Failed, s.Lines)
	if s.notes {
		lines = fmt.Sprintf("%d of %d items failed", s.Failed, s.Lines)
	}
	switch {
	case len(s.Torn) > 1:
		torn := fmt.Sprintf("%d files could not be read to their ends", len(s.Torn))
		if s.Failed > 0 {
			torn = lines + ", and " + torn
		}
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: torn, Fix: "mend them where it is said, " + again}
	case len(s.Torn) == 1:
		torn := s.Torn[0].Detail
		if s.Failed > 0 {
			torn = lines + "; " + torn
		}
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: torn, Fix: "mend it there, " + again}
	case len(s.Conflicts) > 0:
		return &terminal.Failure{
			Code:   terminal.ExitRefused,
			Detail: terminal.Several(len(s.Conflicts), "item") + " changed on both sides; nothing of either is lost",
			Fix:    "bring both together with annals revise, and let the file say the same; annals get shows what is there",
		}
	case s.Failed > 0:
		return &terminal.Failure{Code: terminal.ExitFailed, Detail: lines, Fix: s.advice() + ", " + again}
	case s.Lines == 0:
		return nothingRead()
	}
	return nil
}
