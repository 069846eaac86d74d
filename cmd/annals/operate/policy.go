package operate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// PolicyCommands are the commands about verification policies.
type PolicyCommands struct {
	List   policyListCommand   `cmd:""`
	Set    policySetCommand    `cmd:""`
	Remove policyRemoveCommand `cmd:""`
}

var policyPath = []string{"v1", "verification"}

type policyListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (p *policyListCommand) Run(ctx context.Context, c *terminal.Console) error {
	var all api.VerificationPolicies
	return p.Answer(ctx, c, client.Get(policyPath...), &all, func() error {
		if len(all.Items) == 0 {
			p.Empty(c, "none yet: annals policy set SCOPE --every 90d, or --approve agents")
			return nil
		}
		return p.Show(c, policyTable(all))
	})
}

func policyTable(all api.VerificationPolicies) *terminal.Table {
	rows := terminal.NewTable("SCOPE", "TYPE", "EVERY", "VERIFIER", "APPROVE", "SET")
	rows.Spare = []string{"SET"}
	for _, p := range all.Items {
		every := ""
		if p.EveryDays > 0 {
			every = fmt.Sprintf("%dd", p.EveryDays)
		}
		rows.Row(p.Scope, p.Type, every, p.Verifier, strings.Join(p.Approve, ","), p.SetAt)
	}
	return rows
}

// policyName are the scope and the type of a policy.
type policyName struct {
	Scope string `complete:"scopes" arg:""`
	Type  string `complete:"types" placeholder:"TYPE"`
}

func (n policyName) request(method string, body any) client.Request {
	q := client.Request{Method: method, Path: append(policyPath[:2:2], n.Scope), Query: url.Values{}, Body: body}
	terminal.Put(q.Query, "type", n.Type)
	return q
}

// changePolicy sends a change, and shows all policies after it.
func changePolicy(ctx context.Context, c *terminal.Console, r terminal.Remote, q client.Request) error {
	var all api.VerificationPolicies
	return r.Answer(ctx, c, q, &all, func() error {
		c.Table(policyTable(all))
		return nil
	})
}

type policySetCommand struct {
	terminal.Remote
	policyName

	Every    string   `field:"every_days" placeholder:"90d"`
	Verifier string   `placeholder:"ENTITY"`
	Approve  []string `placeholder:"CLASSES"`
}

// classes are the words for what needs approval.
var classes = map[string][]string{
	"none": {}, "people": {"person"}, "agents": {"personal_agent", "agent"}, "imports": {"import"},
}

func (p *policySetCommand) Run(ctx context.Context, c *terminal.Console) error {
	body := api.NewPolicy{Verifier: p.Verifier}
	if p.Every == "" && p.Approve == nil {
		return terminal.Wrong("as in --every 90d, or --approve agents", "a policy needs --every or --approve")
	}
	if p.Every != "" {
		days, err := strconv.Atoi(strings.TrimSuffix(p.Every, "d"))
		if err != nil {
			return terminal.Wrong("as in --every 90d", "%q is no number of days", p.Every)
		}
		body.EveryDays = days
	}
	if p.Approve != nil {
		body.Approve = &[]string{}
		for _, word := range p.Approve {
			named, known := classes[word]
			if !known {
				named = []string{word}
			}
			*body.Approve = append(*body.Approve, named...)
		}
	}
	return changePolicy(ctx, c, p.Remote, p.request(http.MethodPut, body))
}

type policyRemoveCommand struct {
	terminal.Remote
	policyName
}

func (p *policyRemoveCommand) Run(ctx context.Context, c *terminal.Console) error {
	return changePolicy(ctx, c, p.Remote, p.request(http.MethodDelete, nil))
}
