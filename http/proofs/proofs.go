package proofs

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Prover proves that the log was not changed.
type Prover interface {
	// Key is the public key that checkpoints are verified with.
	Key() string
	// Checkpoint is a recent signed checkpoint of a tenant's log.
	Checkpoint(ctx context.Context, tenant string) (domain.Checkpoint, error)
	// Entry looks an event up; the error matches domain.ErrNotFound if there is none.
	Entry(ctx context.Context, tenant, eventID string) (domain.Entry, error)
	// Inclusion proves that the log of a checkpoint contains an event, with or without its text.
	Inclusion(ctx context.Context, tenant string, entry domain.Entry, text bool) (domain.Inclusion, error)
	// Consistency proves that the log of to events begins with the log of from events; 0 means the size of the newest
	// checkpoint.
	Consistency(ctx context.Context, tenant string, from, to int64) (domain.Consistency, error)
	// Export writes a tenant's records as they are stored, and then their proof.
	Export(ctx context.Context, export domain.Export, out io.Writer) error
	// Status tells up to which position the proof has come.
	Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error)
}

// Room is the operations on proofs.
type Room struct {
	Prover Prover // nil if this server proves nothing
	// Finder finds what a record of a proof refers to.
	Finder interface {
		Causes(ctx context.Context, tenant string, ids []string) (map[string]domain.Event, error)
	}

	api     *serve.API
	events  visible.Events
	exports chan struct{} // holds a token for each export that runs
}

// Routes registers the operations.
func (s Room) Routes(a *serve.API, events visible.Events) {
	a = a.Requiring(s.Prover, "this server proves nothing")
	s.api, s.events, s.exports = a, events, make(chan struct{}, mostExports)
	tags := []string{"Proof"}
	serve.Lookup(a, huma.Operation{
		OperationID: "log-key", Method: http.MethodGet, Path: "/v1/log/key", Tags: tags,
		Summary:     "Read the public key that the log is signed with",
		Description: "Ask for it once, over a way that you trust, and keep it.",
	}, s.logKey)
	serve.Lookup(a, huma.Operation{
		OperationID: "log-checkpoint", Method: http.MethodGet, Path: "/v1/log/checkpoint", Tags: tags,
		Summary: "Read a signed checkpoint: what the log is now",
		Description: "Keep it: it proves later that the log still begins with what it describes. " +
			"It is at most a second or two old. While nothing is recorded, there is none: 404.",
		Errors: []int{http.StatusNotFound},
	}, s.checkpoint)
	serve.Lookup(a, huma.Operation{
		OperationID: "log-inclusion", Method: http.MethodGet, Path: "/v1/log/proof/{event_id}", Tags: tags,
		Summary: "Prove that an event is in the log",
		Description: "For callers who may read the event, named by its id or its position. " +
			"annals verify checks the answer, as it is.",
		Errors: []int{http.StatusNotFound},
	}, s.inclusion)
	serve.Handle(a, huma.Operation{
		OperationID: "log-consistency", Method: http.MethodGet, Path: "/v1/log/consistency", Tags: tags,
		Summary:     "Prove that the log was only appended to between two checkpoints",
		Description: "annals verify checks the answer, as it is.",
	}, s.consistency)
	serve.Handle(a, huma.Operation{
		OperationID: "export-log", Method: http.MethodGet, Path: "/v1/log/export", Tags: tags,
		Summary: "Export the log as it is stored, with what proves it",
		Description: "One record a line, every column as the bytes that were hashed, and a last line with a signed " +
			"checkpoint: annals verify FILE needs nothing else but the public key. A file without its last line is not whole. " +
			"For auditors and admins.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The records, oldest first, and a manifest",
			Content: map[string]*huma.MediaType{
				serve.LinesType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}},
			},
		}},
	}, s.exportLog)
}

type eventInput struct {
	EventID string `path:"event_id" doc:"The event's id: of Annals-Events, or of a history."`
}

type consistencyInput struct {
	From serve.Integer `query:"from" doc:"The size of the checkpoint that you kept."`
	To   serve.Integer `query:"to" doc:"The size of a later one; of the newest if left out."`
}

func (s Room) logKey(context.Context, *serve.Call, *struct{}) (api.LogKey, error) {
	return api.LogKey{Key: s.Prover.Key()}, nil
}

func (s Room) checkpoint(ctx context.Context, c *serve.Call, _ *struct{}) (out api.Checkpoint, err error) {
	made, err := s.Prover.Checkpoint(ctx, c.Principal.Tenant)
	if err != nil {
		return out, err
	}
	if made.Size == 0 {
		return out, domain.Refuse(domain.ErrNotFound, "nothing is signed yet").
			WithFix("the first event that is recorded is signed a second or two later: ask again")
	}
	return serve.CheckpointOf(made), nil
}

func (s Room) inclusion(ctx context.Context, c *serve.Call, in *eventInput) (out api.Inclusion, err error) {
	entry, err := s.Prover.Entry(ctx, c.Principal.Tenant, in.EventID)
	if err != nil {
		return out, err
	}
	if may, err := s.events.MayRead(ctx, c, entry.Stream); err != nil {
		return out, err
	} else if !may {
		return out, domain.NoSuchEvent()
	}
	made, err := s.Prover.Inclusion(ctx, c.Principal.Tenant, entry, false)
	if err != nil {
		return out, err
	}
	if made.Record, err = s.withoutReferences(ctx, c, made); err != nil {
		return out, err
	}
	return serve.InclusionOf(made), nil
}

// withoutReferences is the record of a proof; nil if it names something that the caller may not see. Its hash stays.
func (s Room) withoutReferences(ctx context.Context, c *serve.Call, made domain.Inclusion) ([]byte, error) {
	if c.Principal.SeesAll() {
		return made.Record, nil
	}
	known, err := s.Finder.Causes(ctx, c.Principal.Tenant, []string{made.EventID})
	if err != nil {
		return nil, err
	}
	if hides, err := s.events.Hides(ctx, c, known[made.EventID]); err != nil || hides {
		return nil, err
	}
	return made.Record, nil
}

func (s Room) consistency(
	ctx context.Context, c *serve.Call, in *consistencyInput,
) (*serve.Output[api.Consistency], error) {
	from, to := in.From.Read(&c.Found, "from", 1, serve.NoLimit), in.To.Read(&c.Found, "to", 1, serve.NoLimit)
	if in.From == "" {
		c.Found.Add("from", "is needed: the size of the checkpoint that you kept")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	made, err := s.Prover.Consistency(ctx, c.Principal.Tenant, from, to)
	if err != nil {
		return nil, err
	}
	return &serve.Output[api.Consistency]{Body: api.Consistency{
		From: made.From, To: made.To, FromRoot: serve.Digest(made.FromRoot), ToRoot: serve.Digest(made.ToRoot),
		Path: serve.Map(made.Path, serve.Digest),
	}}, nil
}
