package http

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
)

// proofs answers requests for proof, and exports the log.
type proofs struct{ *Server }

func (s proofs) proofRoutes() {
	tags := []string{"Proof"}
	serve.Lookup(s.api, huma.Operation{
		OperationID: "log-key", Method: http.MethodGet, Path: "/v1/log/key", Tags: tags,
		Summary:     "Read the public key that the log is signed with",
		Description: "Ask for it once, over a way that you trust, and keep it.",
	}, serve.Needing(s.prover, s.logKey))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "log-checkpoint", Method: http.MethodGet, Path: "/v1/log/checkpoint", Tags: tags,
		Summary: "Read a signed checkpoint: what the log is now",
		Description: "Keep it: it proves later that the log still begins with what it describes. " +
			"It is at most a second or two old. While nothing is recorded, there is none: 404.",
		Errors: []int{http.StatusNotFound},
	}, serve.Needing(s.prover, s.checkpoint))
	serve.Lookup(s.api, huma.Operation{
		OperationID: "log-inclusion", Method: http.MethodGet, Path: "/v1/log/proof/{event_id}", Tags: tags,
		Summary: "Prove that an event is in the log",
		Description: "For callers who may read the event, named by its id or its position. " +
			"annals verify checks the answer, as it is.",
		Errors: []int{http.StatusNotFound},
	}, serve.Needing(s.prover, s.inclusion))
	serve.Handle(s.api, huma.Operation{
		OperationID: "log-consistency", Method: http.MethodGet, Path: "/v1/log/consistency", Tags: tags,
		Summary: "Prove that the log was only appended to between two checkpoints",
	}, s.consistency)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "log-protections", Method: http.MethodGet, Path: "/v1/log/protections", Tags: tags,
		Summary:     "See what keeps the log from being changed",
		Description: "What the database refuses to the role that serves. For auditors and admins.",
		Errors:      []int{http.StatusNotFound},
	}, s.walls)
	serve.Handle(s.api, huma.Operation{
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

type consistencyInput struct {
	From serve.Integer `query:"from" doc:"The size of the checkpoint that you kept."`
	To   serve.Integer `query:"to" doc:"The size of a later one; of the newest if left out."`
}

// prover returns the prover, if this server has one and the request is valid so far.
func (s proofs) prover(c *serve.Call) (Prover, error) {
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	if s.cfg.Prover == nil {
		return nil, domain.Refuse(domain.ErrNotFound, "this server proves nothing")
	}
	return s.cfg.Prover, nil
}

func (s proofs) logKey(_ context.Context, _ *serve.Call, prover Prover, _ *struct{}) (api.LogKey, error) {
	return api.LogKey{Key: prover.Key()}, nil
}

func (s proofs) checkpoint(
	ctx context.Context, c *serve.Call, prover Prover, _ *struct{},
) (out api.Checkpoint, err error) {
	made, err := prover.Checkpoint(ctx, c.Principal.Tenant)
	if err != nil {
		return out, err
	}
	if made.Size == 0 {
		return out, domain.Refuse(domain.ErrNotFound, "nothing is signed yet").
			WithFix("the first event that is recorded is signed a second or two later: ask again")
	}
	return checkpointOf(made), nil
}

func (s proofs) inclusion(
	ctx context.Context, c *serve.Call, prover Prover, in *eventInput,
) (out api.Inclusion, err error) {
	entry, err := prover.Entry(ctx, c.Principal.Tenant, in.EventID)
	if err != nil {
		return out, err
	}
	if may, err := s.mayReadStream(ctx, c, entry.Stream); err != nil {
		return out, err
	} else if !may && !c.Principal.SeesAll() {
		return out, domain.NoSuchEvent()
	}
	made, err := prover.Inclusion(ctx, c.Principal.Tenant, entry)
	if err != nil {
		return out, err
	}
	out = api.Inclusion{
		EventID: made.EventID, Stream: made.Stream, Position: made.Position, Hash: hex.EncodeToString(made.Hash),
		Record: made.Record, Path: serve.Map(made.Path, encode), Checkpoint: checkpointOf(made.Checkpoint),
	}
	if made.Leaf != (domain.Digest{}) {
		out.Leaf = encode(made.Leaf)
	}
	return out, nil
}

func (s proofs) consistency(
	ctx context.Context, c *serve.Call, in *consistencyInput,
) (*serve.Output[api.Consistency], error) {
	from, to := in.From.Read(&c.Found, "from", 1, serve.NoLimit), in.To.Read(&c.Found, "to", 1, serve.NoLimit)
	if in.From == "" {
		c.Found.Add("from", "is needed: the size of the checkpoint that you kept")
	}
	prover, err := s.prover(c)
	if err != nil {
		return nil, err
	}
	made, err := prover.Consistency(ctx, c.Principal.Tenant, from, to)
	if err != nil {
		return nil, err
	}
	return &serve.Output[api.Consistency]{Body: api.Consistency{
		From: made.From, To: made.To, FromRoot: encode(made.FromRoot), ToRoot: encode(made.ToRoot),
		Path: serve.Map(made.Path, encode),
	}}, nil
}

func checkpointOf(c domain.Checkpoint) api.Checkpoint {
	return api.Checkpoint{Origin: c.Origin, Size: c.Size, Root: encode(c.Root), Note: c.Note}
}

func encode(digest domain.Digest) string { return base64.StdEncoding.EncodeToString(digest[:]) }

func (s proofs) walls(ctx context.Context, c *serve.Call, _ *struct{}) (out api.Protections, err error) {
	switch {
	case !c.Principal.SeesAll():
		return out, domain.Refuse(domain.ErrForbidden, "only auditors and admins see the protections")
	case s.cfg.Protections == nil:
		return out, domain.Refuse(domain.ErrNotFound, "nobody knows")
	}
	all, err := s.cfg.Protections(ctx)
	out.Items = serve.Map(all, func(p domain.Protection) api.Protection { return api.Protection(p) })
	return out, err
}
