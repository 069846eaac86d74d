package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

type eraseCommand struct {
	writing

	What string `arg:"" optional:"" help:"Which piece of knowledge; a session, such as session:123/planning; or whose, such as user:123: all that belongs to him, all that is meant for him alone, and what he said."`

	Plan        bool   `help:"Change nothing: say what would be erased, and what else goes back to it."`
	WithLineage bool   `help:"Erase, too, what it was made from, what was made from it, and what took its place."`
	ReasonCode  string `placeholder:"WORD" help:"Why, in a word, such as gdpr-17: requested unless told. It stays for ever, like the following."`
	LegalBasis  string `placeholder:"TEXT" help:"Such as \"Art. 17(1)(b) GDPR\"."`
	RequestedBy string `placeholder:"WHO" help:"A pseudonym, such as user:123."`
	Ticket      string `placeholder:"WORD" help:"Where it was asked for."`

	Sweep      bool   `help:"Rewrite the database's files, so that they hold nothing of what was erased. Afterwards, if something is to be erased."`
	ExportList string `complete:"file" placeholder:"FILE" help:"Write what was erased so far, as lines of JSON, to be replayed after a backup was restored."`
	Replay     string `complete:"file" placeholder:"FILE" help:"Erase what such a list names, where it is not erased yet."`
}

// Help implements kong.HelpProvider.
func (eraseCommand) Help() string {
	return `The log keeps that there was something, who erased it and why, and verifies as before; what it said is gone from it, and
from everything computed from it. The owner in person may do that, or an admin. Stopped in the middle, the same
command goes on with what is left. docs/privacy.md says what files and backups still hold.

Examples:

    annals erase retry-advice --plan
    annals erase retry-advice --reason-code gdpr-17 --ticket DSR-12
    annals erase user:123 --reason-code gdpr-17 --sweep
    annals erase session:123/planning
    annals erase --export-list erased.ndjson
    annals erase --replay erased.ndjson`
}

// Run implements the command.
func (e *eraseCommand) Run(ctx context.Context, c *console) error {
	if e.What == "" && !e.Sweep && e.ExportList == "" && e.Replay == "" {
		return wrong("as in annals erase retry-advice, or annals erase user:123 --plan", "say what to erase")
	}
	api, err := e.connect()
	if err != nil {
		return err
	}
	switch {
	case e.ExportList != "":
		err = e.exportList(ctx, c, api)
	case e.Replay != "":
		err = e.replay(ctx, c, api)
	case e.What != "":
		err = e.erase(ctx, c, api)
	}
	if err != nil || !e.Sweep || e.Plan {
		return err
	}
	return sweep(ctx, c, api)
}

// doomed is something that is to be erased.
type doomed struct {
	ID       string `json:"id"`
	Owner    string `json:"owner"`
	Status   string `json:"status"`
	Held     bool   `json:"held,omitempty"`
	Relation string `json:"relation,omitempty"`
	Of       string `json:"of,omitempty"`
	Stream   string `json:"stream,omitempty"`
}

// erase plans, and then does it, unless it was to be planned only.
func (e *eraseCommand) erase(ctx context.Context, c *console, api *client) error {
	list, err := e.doomed(ctx, api)
	if err != nil {
		return err
	}
	lineage, err := e.lineage(ctx, api, list)
	if err != nil {
		return err
	}
	if e.Plan {
		return e.printPlan(c, list, lineage)
	}
	if e.WithLineage {
		for _, kin := range lineage {
			if kin.isSession() || kin.ID != "" && kin.Status != string(domain.IsErased) {
				list = append(list, kin)
			}
		}
	}
	return e.carryOut(ctx, c, api, list)
}

// doomed are the pieces of knowledge that are named.
func (e *eraseCommand) doomed(ctx context.Context, api *client) ([]doomed, error) {
	if one := (doomed{Stream: e.What}); one.isSession() {
		return []doomed{one}, nil
	}
	if !strings.Contains(e.What, ":") {
		return []doomed{{ID: e.What}}, nil
	}
	list, err := e.sessions(ctx)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, filter := range []string{"owner", "scope"} {
		query := url.Values{filter: {e.What}, "limit": {"100"}, "status": {"active", "superseded", "deleted"}}
		all, err := api.all(ctx, []string{"v1", "knowledge"}, query)
		if err != nil {
			return nil, err
		}
		for _, raw := range all {
			var found struct {
				doomed
				Scopes []string `json:"scopes"`
			}
			if err := decodeInto(raw, &found); err != nil {
				return nil, err
			}
			about := found.Owner == e.What || !slices.ContainsFunc(found.Scopes, func(s string) bool { return s != e.What })
			if about && !seen[found.ID] {
				seen[found.ID] = true
				list = append(list, found.doomed)
			}
		}
	}
	return list, nil
}

// lineage is what goes back to what is to be erased, or what that goes back to, besides itself.
func (e *eraseCommand) lineage(ctx context.Context, api *client, list []doomed) ([]doomed, error) {
	if !e.Plan && !e.WithLineage {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, d := range list {
		seen["knowledge:"+d.ID] = true
		seen[d.Stream] = d.isSession()
	}
	var all []doomed
	for _, d := range list {
		if d.isSession() { // what was made of it is named by itself
			continue
		}
		var found struct {
			Items []doomed `json:"items"`
		}
		if _, err := api.read(ctx, request{Method: http.MethodGet, Path: []string{"v1", "knowledge", d.ID, "lineage"}}, &found); err != nil {
			return nil, err
		}
		for _, kin := range found.Items {
			if !seen[kin.Stream] {
				seen[kin.Stream] = true
				all = append(all, kin)
			}
		}
	}
	return all, nil
}

func (e *eraseCommand) printPlan(c *console, list, lineage []doomed) error {
	if c.json {
		return c.document(map[string]any{"items": list, "lineage": append([]doomed{}, lineage...)})
	}
	rows := &grid{heads: []string{"", "WHAT", "OWNER", "STATUS", "WHY"}}
	for _, d := range list {
		rows.row(red.Render("erase"), printable(d.name()), printable(d.Owner), heldOr(d), "named")
	}
	for _, d := range lineage {
		mark := "keep"
		if e.WithLineage && (d.ID != "" || d.isSession()) {
			mark = red.Render("erase")
		}
		rows.row(mark, printable(d.name()), printable(d.Owner), heldOr(d), printable(strings.ReplaceAll(d.Relation, "_", " ")+" "+d.Of))
	}
	c.say("%s", rows.render(c.width))
	c.say("%d would be erased; %d are related to them%s", len(list), len(lineage), map[bool]string{true: ", and would be, too", false: ": --with-lineage erases those, too"}[e.WithLineage])
	return nil
}

func heldOr(d doomed) string {
	if d.Held {
		return "under legal hold"
	}
	return d.Status
}

// grounds are why, as the API takes them.
func (e *eraseCommand) grounds() url.Values {
	query := url.Values{"erase": {"true"}}
	for name, value := range map[string]string{
		"reason_code": e.ReasonCode, "legal_basis": e.LegalBasis, "requested_by": e.RequestedBy, "ticket": e.Ticket,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// carryOut erases one after the other. Each is erased for good when it is answered, so that the same command
// goes on with what is left, wherever it was stopped.
func (e *eraseCommand) carryOut(ctx context.Context, c *console, api *client, list []doomed) error {
	bar := watchCount(c, "erasing", int64(len(list)))
	defer bar.end()
	erased, events := 0, []string{}
	var refused []error
	header := e.header(0)
	if strings.Contains(e.What, ":") {
		header.Set("Annals-Correlation-Id", "erase:"+e.What)
	}
	for i, d := range list {
		var done bool
		var err error
		if d.isSession() {
			done, err = e.eraseSession(ctx, d.Stream)
		} else {
			var a *answer
			a, err = api.ask(ctx, request{Method: http.MethodDelete, Path: []string{"v1", "knowledge", d.ID}, Query: e.grounds(), Header: header})
			if err == nil && a.Header.Get("Annals-Events") != "" {
				done, events = true, append(events, a.Header.Get("Annals-Events"))
			}
		}
		if f, is := errors.AsType[*failure](err); is && f.Code == exitRefused && len(list) > 1 {
			refused = append(refused, fmt.Errorf("%s: %s", d.name(), f.Detail))
			continue
		}
		if err != nil {
			return err
		}
		if done {
			erased++
		}
		bar.set(int64(i+1), int64(len(list)))
	}
	bar.end()
	if c.json {
		if err := c.document(map[string]any{"erased": erased, "events": events, "refused": len(refused)}); err != nil {
			return err
		}
	} else if erased == 0 && len(refused) == 0 {
		c.say("nothing to erase: %s", bold.Render(printable(e.What)))
	} else {
		c.say("erased %s for good: %d of %d", bold.Render(printable(e.What)), erased, len(list))
	}
	if len(refused) == 0 {
		return nil
	}
	for _, why := range refused {
		c.note("not erased: %s", printable(why.Error()))
	}
	return &failure{Code: exitRefused, Detail: fmt.Sprintf("%d of %d were not erased", len(refused), len(list))}
}

// sweep lets the server rewrite its files.
func sweep(ctx context.Context, c *console, api *client) error {
	slow := *api
	slow.timeout = 0
	var done struct {
		BeganAt  string   `json:"began_at"`
		EndedAt  string   `json:"ended_at"`
		Complete bool     `json:"complete"`
		Notes    []string `json:"notes"`
	}
	c.note("rewriting the files: who writes there waits meanwhile")
	if _, err := slow.read(ctx, request{Method: http.MethodPost, Path: []string{"v1", "erasures", "sweep"}}, &done); err != nil {
		return err
	}
	if c.json {
		return c.document(done)
	}
	for _, note := range done.Notes {
		c.say("%s", printable(note))
	}
	if !done.Complete {
		return &failure{Code: exitFailed, Detail: "not everything was rewritten", Fix: "let the owner of the tables run it, when less is going on; docs/privacy.md says how"}
	}
	c.say("%s: the files hold nothing of what was erased", green.Render("swept"))
	return nil
}

type legalHold struct {
	changing

	ReasonCode string `required:"" placeholder:"WORD" help:"Why, in a word, such as litigation. It stays for ever."`
	Ticket     string `placeholder:"WORD" help:"Of the case. It stays for ever."`
}

func (l legalHold) do(ctx context.Context, c *console, what, done string) error {
	return l.change(ctx, c, request{
		Method: http.MethodPost, Path: []string{what},
		Body: map[string]string{"reason_code": l.ReasonCode, "ticket": l.Ticket},
	}, done)
}

type holdCommand struct{ legalHold }

// Help implements kong.HelpProvider.
func (holdCommand) Help() string {
	return `Example:

    annals hold retry-advice --reason-code litigation --ticket LEGAL-7`
}

// Run implements the command.
func (h *holdCommand) Run(ctx context.Context, c *console) error {
	return h.do(ctx, c, "hold", "held")
}

type releaseCommand struct{ legalHold }

// Help implements kong.HelpProvider.
func (releaseCommand) Help() string {
	return `Example:

    annals release retry-advice --reason-code settled --ticket LEGAL-7`
}

// Run implements the command.
func (r *releaseCommand) Run(ctx context.Context, c *console) error {
	return r.do(ctx, c, "release", "released")
}
