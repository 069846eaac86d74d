package operate

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/colorprofile"
	"github.com/dustin/go-humanize"

	"github.com/annals-kb/annals/cmd/annals/knowledge"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// EraseCommand shows a plan, asks for confirmation and erases. Then it purges the files, or reports until when they
// hold the erased texts.
type EraseCommand struct {
	terminal.Writing
	terminal.Tabular
	serve.Storage
	serve.Logging

	What string `complete:"ids" field:"of,id,stream" arg:"" optional:""`

	Yes         bool
	Plan        bool `xor:"what"`
	Rows        bool
	WithLineage bool
	KeepShared  bool
	KeepAccess  bool
	ReasonCode  string `placeholder:"WORD"`
	LegalBasis  string `placeholder:"TEXT"`
	RequestedBy string `placeholder:"WHO"`
	Ticket      string `placeholder:"WORD"`

	Purge       bool
	ExportList  string `xor:"what" complete:"file" placeholder:"FILE"`
	Replay      string `xor:"what" complete:"file" placeholder:"FILE"`
	Certificate string `xor:"what" placeholder:"ID"`
}

func (e *EraseCommand) Run(ctx context.Context, c *terminal.Console, parsed *kong.Context) error {
	if err := e.check(); err != nil {
		return err
	}
	switch other := e.ExportList + e.Certificate; {
	case e.Replay != "":
		return e.replay(ctx, c)
	case e.What == "" && other == "" && e.Purge && !e.Plan && terminal.OnCommandLine(parsed, "database"):
		return e.purgeAsOwner(ctx, c)
	case e.What == "" && other == "" && !e.Purge:
		return terminal.Wrong("as in annals erase retry-advice, or annals erase user:123 --plan", "say what to erase")
	}
	server, err := e.Connect()
	if err != nil {
		return err
	}
	if e.Purge && !e.Plan {
		if err := mayPurge(ctx, server); err != nil {
			return err
		}
	}
	erased := false
	switch {
	case e.ExportList != "":
		err = e.exportList(ctx, c, server)
	case e.Certificate != "":
		err = e.certificate(ctx, c, server)
	case e.What != "":
		erased, err = e.erase(ctx, c, server)
	}
	return e.verify(ctx, c, server, erased, err)
}

// check refuses contradictory flags.
func (e *EraseCommand) check() error {
	for flag, value := range map[string]string{
		"--replay": e.Replay, "--export-list": e.ExportList, "--certificate": e.Certificate,
	} {
		if value != "" && e.What != "" {
			return terminal.Wrong("one after the other", "%s erases nothing that is named besides: %s", flag, e.What)
		}
	}
	if (e.Rows || e.Quiet || e.Wide || len(e.Columns) > 0) && !e.Plan {
		return terminal.Wrong("add --plan, or leave it out", "--rows is for a plan, and so are --wide, --columns and --quiet")
	}
	if member := domain.Entity(e.What).Kind(); (e.KeepShared || e.KeepAccess) && member != domain.User &&
		member != domain.Agent {
		return terminal.Wrong("as in annals erase user:123 --keep-shared --plan",
			"--keep-shared and --keep-access are for a user or an agent")
	}
	if e.Replay != "" && e.Purge {
		return terminal.Wrong("one after the other: annals erase --purge, when a server runs again",
			"--replay purges nothing")
	}
	return nil
}

// isItem tells whether the target is one item, and not an owner, a session or a tenant.
func (e *EraseCommand) isItem() bool { return !strings.Contains(e.What, ":") }

// erase shows the plan, asks for confirmation and erases. It returns whether something was erased.
func (e *EraseCommand) erase(ctx context.Context, c *terminal.Console, server *client.Client) (erased bool, err error) {
	switch {
	case e.Plan:
		err = e.plan(ctx, c, server)
	default:
		if err = e.confirm(ctx, c, server); err != nil {
			break
		}
		if e.isItem() && !e.WithLineage {
			erased, err = e.applyToItem(ctx, c, server)
		} else {
			erased, err = e.applyOrder(ctx, c, server)
		}
	}
	name, isTenant := domain.TenantOf(e.What)
	if f := terminal.AsFailure(err); isTenant && err != nil {
		if slices.ContainsFunc(f.Fields, func(f terminal.Field) bool { return f.Field == "of" }) {
			hinted := *f
			hinted.Fix = "add --tenant " + name
			err = &hinted
		}
	}
	return erased, err
}

// maybeMisspelt is the hint if there is nothing to erase. That is no failure, since a target may have been erased
// before.
const maybeMisspelt = "if that is a surprise, look at how it is written"

// plan shows the erasure targets and the items related to them.
func (e *EraseCommand) plan(ctx context.Context, c *terminal.Console, server *client.Client) error {
	question := client.Get("v1", "erasures", "plan")
	question.Query = url.Values{
		"of": {e.What}, "with_lineage": {strconv.FormatBool(e.WithLineage)},
		"keep_shared": {strconv.FormatBool(e.KeepShared)},
	}
	var plan api.ErasurePlan
	a, err := server.Do(ctx, question, &plan)
	if err == nil && c.JSON {
		err = c.Document(a.Body)
	}
	if err == nil && len(plan.Items) == 0 && plan.Keys == 0 {
		detail := fmt.Sprintf("nothing of %s is here: nothing would be erased", e.What)
		err = &terminal.Failure{Code: terminal.ExitNotFound, Detail: detail, Fix: maybeMisspelt}
	}
	if err != nil || c.JSON {
		return err
	}
	return e.printPlan(c, plan)
}

// The outcomes of a plan for an item.
const (
	outcomeErased  = "erase"
	outcomeHeld    = "held"
	outcomeOthers  = "stays" // only its owner can erase it
	outcomeRelated = "keep"
	outcomePasses  = "pass" // to a group
)

func outcomeOf(t api.ErasureTarget) (word string, marked terminal.Markup) {
	switch {
	case t.Goes:
		return outcomeErased, terminal.Red.Render(outcomeErased)
	case t.Held && t.Kept, strings.HasPrefix(t.Reason, "its archive"):
		return outcomeHeld, terminal.Amber.Render(outcomeHeld)
	case t.Kept:
		return outcomeOthers, terminal.Amber.Render(outcomeOthers)
	case t.PassesTo != "":
		return outcomePasses, terminal.Green.Render(outcomePasses)
	}
	return outcomeRelated, outcomeRelated
}

func (e *EraseCommand) printPlan(c *terminal.Console, plan api.ErasurePlan) error {
	rows := terminal.NewTable("", "ID", "OWNER", "STATUS", "WHY", "SCOPES", "TITLE")
	rows.Spare = []string{"STATUS", "OWNER"}
	counts, kinds, refused, named := map[string]int{}, map[[2]string]int{}, "", 0
	for _, t := range plan.Items {
		outcome, marked := outcomeOf(t)
		why := "named"
		switch t.Relation {
		case "":
			if t.ID != "" {
				named++
			}
		case "derives":
			why = t.RelatedTo + " is derived from it"
		default:
			why = strings.ReplaceAll(t.Relation, "_", " ") + " " + t.RelatedTo
		}
		if t.ID == e.What {
			refused = t.Reason
		}
		kind, _, _ := strings.Cut(t.Stream, ":")
		rows.Row(marked, cmp.Or(t.ID, t.Stream), t.Owner, t.Status, terminal.Joined(": ", why, t.Reason),
			strings.Join(t.Scopes, ", "), t.Title)
		counts[outcome]++
		kinds[[2]string{outcome, kind}]++
	}
	if few := 20; len(plan.Items) > few && !e.Rows && !e.Quiet {
		rows = terminal.NewTable("", "KIND", "HOW MANY")
		byName := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
		for _, kind := range slices.SortedFunc(maps.Keys(kinds), byName) {
			rows.Row(kind[0], kind[1], kinds[kind])
		}
		defer c.Note("--rows names each of them, --json gives all")
	}
	if err := e.Show(c, rows); err != nil || e.Quiet {
		return err
	}
	if refused != "" {
		c.Say("nothing would be erased: %s", refused)
		return nil
	}
	sums := terminal.NewTable("", "")
	sums.Row("would erase", counts[outcomeErased])
	for _, more := range []struct{ name, outcome, hint string }{
		{"under legal hold", outcomeHeld, ""},
		{"of others", outcomeOthers, ""},
		{"pass to groups", outcomePasses, ""},
		{"related", outcomeRelated, "; --with-lineage erases them, too"},
	} {
		if n := counts[more.outcome]; n > 0 {
			sums.Row(more.name, humanize.Comma(int64(n))+more.hint)
		}
	}
	switch keys := strings.Join(plan.KeyPrefixes, ", "); {
	case e.KeepAccess:
	case keys != "":
		sums.Row("keys to revoke", keys+"; --keep-access leaves them valid")
	case plan.Keys > 0:
		sums.Row("keys to revoke", humanize.Comma(plan.Keys)+"; only root has access afterwards, and the name stays taken")
	}
	if len(plan.Memberships) > 0 && !e.KeepAccess {
		sums.Row("leaves", strings.Join(plan.Memberships, ", ")+"; --keep-access keeps them")
	}
	c.Table(sums)
	for _, group := range slices.Sorted(maps.Keys(plan.MeantFor)) {
		c.Say("%d of %d are meant for %s; --keep-shared gives them to it, and takes %s off them", plan.MeantFor[group], named,
			group, e.What)
	}
	return nil
}

// confirm shows the plan on a terminal and asks for confirmation. For an owner, such as a user, or a tenant the
// caller must type the name.
func (e *EraseCommand) confirm(ctx context.Context, c *terminal.Console, server *client.Client) error {
	if !c.Prompted || e.Yes {
		return nil
	}
	asking := *c
	asking.Out, asking.Styled, asking.JSON = c.Err, colorprofile.NewWriter(c.Err, os.Environ()), false
	if err := e.plan(ctx, &asking, server); err != nil {
		if terminal.AsFailure(err).Code == terminal.ExitNotFound {
			return nil // erasing shows why there is nothing to confirm
		}
		return err
	}
	want, question := "y", "Erase it for good? [y/N] "
	if !e.isItem() {
		want, question = e.What, fmt.Sprintf("This cannot be undone. Type %s to erase it: ", terminal.Printable(e.What))
	}
	_, _ = fmt.Fprint(c.Err, question)
	typed := make(chan string, 1)
	go func() { // a read of standard input cannot be interrupted
		line, _ := bufio.NewReader(c.In).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		if line == want || want == "y" && strings.EqualFold(line, "yes") {
			return nil
		}
		return &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "not confirmed: nothing was erased", Fix: "--yes asks for no confirmation",
		}
	case <-ctx.Done():
		c.Note("")
		return ctx.Err()
	}
}

// applyToItem erases one item.
func (e *EraseCommand) applyToItem(ctx context.Context, c *terminal.Console, server *client.Client) (bool, error) {
	q := client.Request{
		Method: http.MethodDelete, Path: []string{
			"v1", "knowledge",
			e.What,
		}, Query: url.Values{"erase": {"true"}}, Header: e.Header(0),
	}
	terminal.Put(q.Query, "reason_code", e.ReasonCode)
	terminal.Put(q.Query, "legal_basis", e.LegalBasis)
	terminal.Put(q.Query, "requested_by", e.RequestedBy)
	terminal.Put(q.Query, "ticket", e.Ticket)
	a, err := server.Do(ctx, q, nil)
	if err != nil {
		return false, err
	}
	event := a.Header.Get("Annals-Events")
	switch {
	case c.JSON:
		return false, c.Document(map[string]any{"id": e.What, "event": event})
	case event == "":
		c.Say("nothing to erase: %s", terminal.Bold.Render(e.What))
		return false, nil
	}
	c.Say("erased %s for good", terminal.Bold.Render(e.What))
	knowledge.RedactionsOf(a).Print(c)
	return true, nil
}

// applyOrder orders an erasure and watches it. The server completes the order even if the command ends.
func (e *EraseCommand) applyOrder(
	ctx context.Context, c *terminal.Console, server *client.Client,
) (erased bool, err error) {
	q := client.Post(api.ErasureOrder{
		Of: e.What, WithLineage: e.WithLineage, KeepShared: e.KeepShared, KeepAccess: e.KeepAccess,
		ReasonCode: e.ReasonCode, LegalBasis: e.LegalBasis, RequestedBy: e.RequestedBy, Ticket: e.Ticket,
	}, "v1", "erasures")
	q.Header = e.Header(0)
	var order api.Erasure
	if _, err := server.Do(ctx, q, &order); err != nil {
		return false, err
	}
	if order, err = watchOrder(ctx, c, server, order); err != nil {
		return false, err
	}
	if c.JSON {
		err = c.Document(order)
	} else {
		err = e.printOrder(ctx, c, server, order)
	}
	if err != nil || order.NotErased == 0 {
		return order.Erased > 0, err
	}
	for _, r := range order.Refused {
		c.Note("not erased: %s", r.Reason)
	}
	detail := fmt.Sprintf("%d of %d were not erased", order.NotErased, order.Erased+order.NotErased)
	if order.Erased == 0 {
		return false, &terminal.Failure{Code: terminal.ExitRefused, Detail: detail}
	}
	return true, &terminal.Failure{Code: terminal.ExitFailed, Detail: detail}
}

func watchOrder(
	ctx context.Context, c *terminal.Console, server *client.Client, order api.Erasure,
) (api.Erasure, error) {
	progress := terminal.Watch(c, "erasing")
	defer progress.End()
	for pause := 20 * time.Millisecond; order.State == "under_way"; pause = min(2*pause, time.Second) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			progress.End()
			c.Note("the server goes on: %s", order.ID)
			return order, ctx.Err()
		}
		var now api.Erasure
		if _, err := server.Do(ctx, client.Get("v1", "erasures", order.ID), &now); err != nil {
			return order, err
		}
		order = now
		progress.Set(order.Erased, order.Erased+order.Left)
	}
	return order, nil
}

// printOrder shows the result of an order. For an item with its lineage, it lists each refusal.
func (e *EraseCommand) printOrder(
	ctx context.Context, c *terminal.Console, server *client.Client, order api.Erasure,
) error {
	if order.Erased+order.NotErased+order.Revoked+order.Passed == 0 {
		c.Say("nothing to erase: nothing of %s is here", terminal.Bold.Render(e.What))
		c.Note(maybeMisspelt)
		return nil
	}
	gone := e.What
	switch {
	case order.Erased == 0:
		gone = "nothing"
	case order.NotErased > 0 && e.isItem():
		question := client.Get("v1", "events")
		question.Query = url.Values{
			"correlation_id": {domain.ErasureStreams.Of(order.ID)}, "name": {"knowledge.erased", "session.erased"},
		}
		var list api.Page[api.Event]
		if _, err := server.Do(ctx, question, &list); err != nil {
			return err
		}
		var things []string
		for _, event := range list.Items {
			things = append(things, strings.TrimPrefix(event.Stream, domain.KnowledgeStream("")))
		}
		gone = terminal.Enumerated(things, int(order.Erased))
	}
	c.Say("erased %s for good: %d of %d", terminal.Bold.Render(gone), order.Erased, order.Erased+order.NotErased)
	if order.Passed > 0 {
		c.Say("%s passed to their groups", terminal.Several(int(order.Passed), "item"))
	}
	if _, isTenant := domain.TenantOf(e.What); isTenant && order.Revoked > 0 {
		c.Say("revoked %s; only root has access now", terminal.Several(int(order.Revoked), "key"))
	} else if order.Revoked > 0 {
		c.Say("revoked %s of %s", terminal.Several(int(order.Revoked), "key"), e.What)
	}
	return nil
}
