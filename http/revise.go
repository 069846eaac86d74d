package http

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

// patch is a merge patch (RFC 7396) of what may change about an item.
type patch struct {
	Type       body.Optional[string]        `json:"type,omitzero" nullable:"false" enum:"user_profile,strategy,tool,usecase,definition,plan"`
	Task       body.Optional[string]        `json:"task,omitzero" maxLength:"2000"`
	Content    body.Optional[string]        `json:"content,omitzero" nullable:"false" minLength:"1"`
	Abstract   body.Optional[string]        `json:"abstract,omitzero" maxLength:"4000" doc:"null to derive it from the content again."`
	Overview   body.Optional[string]        `json:"overview,omitzero" maxLength:"16000" doc:"null to derive it from the content again."`
	Tags       body.Optional[body.TagPatch] `json:"tags,omitzero" doc:"An object is merged, key by key; null takes a key away. An object of values, as in {\"labels\": {\"new\": true, \"old\": null}}, adds and takes away those, and leaves the others. An array replaces all tags with labels."`
	Scopes     body.Optional[[]string]      `json:"scopes,omitzero" nullable:"false" doc:"The whole new set."`
	Owner      body.Optional[string]        `json:"owner,omitzero" nullable:"false" doc:"Who is to own it from now on."`
	Visibility body.Optional[string]        `json:"visibility,omitzero" nullable:"false" enum:"private,shared,org,public" doc:"Refused if it contradicts the scopes."`
	Category   body.Optional[string]        `json:"category,omitzero" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Polarity   body.Optional[string]        `json:"polarity,omitzero" enum:"positive,negative"`
	Meta       body.Optional[body.Object]   `json:"meta,omitzero" doc:"Merged, key by key; null takes a key away."`
	URI        body.Optional[string]        `json:"uri,omitzero" nullable:"false" pattern:"^viking://"`
	Reason     body.Optional[string]        `json:"reason,omitzero" nullable:"false" maxLength:"2000" doc:"Why, for the history: nothing of the item."`

	Confirm      body.Optional[bool]      `json:"confirm,omitzero" nullable:"false" doc:"true: also confirm the item in the same act, as confirm does. Reports of staleness end."`
	ConfirmUntil body.Optional[time.Time] `json:"confirm_until,omitzero" nullable:"false" doc:"With confirm: when it should be looked at again; for good if left out."`
}

func (s *Server) revise(ctx context.Context, c *serve.Call, in *serve.ItemInput) (*serve.Reply, error) {
	change, err := serve.ReadBody[patch](c, serve.PatchType)
	if err != nil {
		return nil, err
	}
	const tries = 100 // each conflict means that another change succeeded
	for try := 1; ; try++ {
		var merged bool
		receipt, err := c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
			merged = t.Revisions == nil && change.merges()
			return s.revision(ctx, c, t, change)
		})
		// Another change came between the merge and the write. The caller asked for no revision, so it tries again.
		if merged && errors.Is(err, domain.ErrPrecondition) && try < tries {
			continue
		}
		return serve.Replied(receipt, err)
	}
}

// never is a revision that no item has.
const never = math.MaxInt64

// revision is the command of a patch. It merges tags and meta with those of the item; then the command is for that
// revision only.
func (s *Server) revision(ctx context.Context, c *serve.Call, t domain.Target, change patch) (domain.Command, error) {
	var found domain.Problems
	command := change.command(t, &found)
	if change.merges() {
		k, err := s.items.Existing(ctx, c, t.ID)
		switch {
		case err != nil && (c.Key == "" || !errors.Is(err, domain.ErrDeleted)):
			return nil, err
		case err != nil: // the log refuses it too, or repeats its earlier answer
			k = &domain.Knowledge{Revision: never}
		}
		if t.Revisions == nil || slices.Contains(t.Revisions, k.Revision) {
			command.Revisions = []int64{k.Revision}
		}
		change.merge(&command, k, &found)
	}
	return command, serve.Merge(found, command.Validate())
}

func (p patch) command(target domain.Target, found *domain.Problems) domain.Revise {
	command := domain.Revise{Target: target, Changes: domain.Revised{
		Type: changed[domain.Type](p.Type), Category: changed[domain.Category](p.Category),
		Polarity: changed[domain.Polarity](p.Polarity), Task: changed[string](p.Task),
		Content: changed[string](p.Content), Abstract: changed[string](p.Abstract),
		Overview: changed[string](p.Overview),
	}}
	if p.Polarity.Null {
		*command.Changes.Polarity = domain.Positive
	}
	command.Reason, command.Confirm, command.Until = p.Reason.Value, p.Confirm.Value, p.ConfirmUntil.Value
	if p.ConfirmUntil.Given && !p.Confirm.Value {
		found.Add("confirm_until", "belongs to confirm")
	}
	command.Visibility = domain.Visibility(p.Visibility.Value)
	command.Owner = domain.Entity(required(p.Owner, "owner", found))
	command.URI = required(p.URI, "uri", found)
	if p.Scopes.Null {
		found.Add("scopes", "cannot be taken away")
	}
	if p.Scopes.Given && !p.Scopes.Null {
		command.Scopes = serve.FromStrings[domain.Scope](p.Scopes.Value)
	}
	return command
}

// changed is the new value; null clears.
func changed[T ~string](o body.Optional[string]) *T {
	if !o.Given {
		return nil
	}
	value := T(o.Value)
	return &value
}

// required is the new value of a field that must not be empty.
func required(o body.Optional[string], field string, found *domain.Problems) string {
	if o.Given && o.Value == "" {
		found.Add(field, "cannot be taken away")
	}
	return o.Value
}

// merges tells whether the result depends on the present item.
func (p patch) merges() bool { return p.Tags.Given || p.Meta.Given }

func (p patch) merge(command *domain.Revise, k *domain.Knowledge, found *domain.Problems) {
	if p.Tags.Given {
		merged := domain.Tags{}
		if !p.Tags.Null {
			merged = p.Tags.Value.Apply(k.Text.Tags)
		}
		command.Changes.Tags = &merged
	}
	if p.Meta.Given {
		var merged json.RawMessage
		if !p.Meta.Null {
			var err error
			if merged, err = body.MergePatch(k.Text.Meta, json.RawMessage(p.Meta.Value)); err != nil {
				found.Add("meta", "cannot be merged with what is there")
			}
		}
		command.Changes.Meta = &merged
	}
}

type forgetInput struct {
	ID     string `path:"id" doc:"The item's id."`
	Reason string `query:"reason" maxLength:"2000" doc:"Why; also in the body as {\"reason\"}."`

	Erase       serve.Boolean `query:"erase" doc:"Destroy what people wrote about it, for good."`
	ReasonCode  string        `query:"reason_code" doc:"With erase: a word, requested if left out. This and the following stay in the log for ever."`
	LegalBasis  string        `query:"legal_basis" maxLength:"200" doc:"With erase, such as Art. 17(1)(b) GDPR."`
	RequestedBy string        `query:"requested_by" maxLength:"200" doc:"With erase: a pseudonym."`
	Ticket      string        `query:"ticket" doc:"With erase."`
}

func (s *Server) forget(ctx context.Context, c *serve.Call, in *forgetInput) (*serve.Receipt, error) {
	reason, err := serve.ReadAny[api.Reason](c)
	if err != nil {
		return nil, err
	}
	erase := serve.Value(in.Erase.Read(&c.Found, "erase"))
	switch {
	case erase && in.Reason+reason.Reason != "":
		c.Found.Add("reason", "is for forgetting; erasing takes a reason_code, which stays for ever")
	case !erase && in.Reason != "" && reason.Reason != "":
		c.Found.Add("reason", "is given twice")
	}
	if !erase {
		in.onlyForgetting(&c.Found)
	}
	done, err := c.Change(ctx, in.ID, func(t domain.Target) (domain.Command, error) {
		if erase {
			return domain.Erase{Target: t, ErasureReason: domain.ErasureReason{
				ReasonCode: in.ReasonCode, LegalBasis: in.LegalBasis, RequestedBy: in.RequestedBy, Ticket: in.Ticket,
			}}.Complete()
		}
		command := domain.Delete{Target: t, Reason: in.Reason + reason.Reason}
		return command, command.Validate()
	})
	if err != nil {
		return nil, err
	}
	return serve.ReceiptOf(done), nil
}

// onlyForgetting notes the fields of an erasure in a request without erase=true, whose caller would expect an
// erasure.
func (in *forgetInput) onlyForgetting(found *domain.Problems) {
	for _, ground := range []struct{ name, value string }{
		{"reason_code", in.ReasonCode},
		{"legal_basis", in.LegalBasis},
		{"requested_by", in.RequestedBy},
		{"ticket", in.Ticket},
	} {
		if ground.value != "" {
			found.Add(ground.name, "is for erase=true; forgetting takes a reason")
		}
	}
}
