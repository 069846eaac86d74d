package http

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
	"github.com/annals-kb/annals/http/serve"
)

type rememberInput struct {
	Update serve.Boolean `query:"update" doc:"Other content under a taken id revises that item instead of being refused. A caller who may change the item may leave its owner and its scopes as they are."`

	Lesson serve.Boolean `query:"lesson" doc:"An item of tools, skills, patterns or antipatterns without an owner and scopes is for those for whom lessons of sessions are (learned-for), or else for the caller's only team. What may be about a person is for the caller alone."`

	OnSimilar string `query:"on_similar" enum:"report,link,refuse,vote" doc:"For one item that is new: look for items of its audience that say the same, contradict it or resemble it, and name them in the answer. link relates it to its duplicates, too. refuse answers 409 if there are duplicates or contradictions. vote gives a helpful vote of yours to an item that has exactly this text, kind and audience, instead of remembering a second one. If left out, nothing is looked for."`

	Supersedes string `query:"supersedes" doc:"For one item that is new: the id of an item whose place it takes, which the caller must be a steward of. Both happen, or nothing does. Not with on_similar=vote."`
}

// onSimilar reads the parameter.
func (in *rememberInput) onSimilar(p *domain.Problems) domain.OnSimilar {
	way := domain.OnSimilar(in.OnSimilar)
	if way != "" && !slices.Contains(domain.OnSimilars, way) {
		p.Add("on_similar", "must be one of report, link, refuse, vote")
	}
	return way
}

// remember takes one item or many: an array or lines.
func (s *Server) remember(ctx context.Context, c *serve.Call, in *rememberInput) (*serve.Streamed, error) {
	media, err := serve.MediaType(c.Request, serve.JSONType, serve.LinesType)
	if err != nil {
		return nil, err
	}
	if media == serve.LinesType {
		return s.rememberMany(c, c.Request.Body, body.Lines, in)
	}
	sent := bufio.NewReaderSize(c.Request.Body, 16) // a small buffer shows the first byte; readWhole has its own
	if body.Opening(sent) == '[' {
		return s.rememberMany(c, sent, body.Elements, in)
	}
	return s.rememberOne(ctx, c, sent, in)
}

func (s *Server) rememberOne(
	ctx context.Context, c *serve.Call, from io.Reader, in *rememberInput,
) (*serve.Streamed, error) {
	revise := serve.Value(in.Update.Read(&c.Found, "update"))
	lesson := serve.Value(in.Lesson.Read(&c.Found, "lesson"))
	onSimilar := in.onSimilar(&c.Found)
	if in.Supersedes != "" && (onSimilar == domain.VoteSimilar || !domain.IsItemID(in.Supersedes)) {
		c.Found.Add("supersedes", "must be the id of an item, without on_similar=vote")
	}
	var err error
	c.Sent, err = c.ReadWhole(from)
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok && errors.Is(err, domain.ErrTooLarge) {
		return nil, refusal.WithFix("send many items as lines, with Content-Type: %s", serve.LinesType)
	}
	if err != nil {
		return nil, err
	}
	command, provenance, err := remembering(c.Principal, c.Sent, revise, c.Found)
	if err != nil {
		return nil, err
	}
	if command.Revisions, err = c.ExpectedRevisions(); err != nil {
		return nil, err
	}
	if lesson && s.cfg.Lesson != nil {
		if command, err = s.cfg.Lesson(ctx, command); err != nil {
			return nil, err
		}
	}
	command.OnSimilar = onSimilar
	submission := c.Submission(command)
	if in.Supersedes != "" {
		instead := domain.Supersede{Target: c.Target(in.Supersedes, nil), Successor: command.ID, Reason: command.Reason}
		if err := instead.Validate(); err != nil {
			return nil, err
		}
		submission.Then = []domain.Command{instead}
	}
	provenance.into(&submission.Origin)
	var receipt domain.Receipt
	var similar []api.Similar
	if onSimilar == "" {
		receipt, err = s.api.Writer.Submit(ctx, submission)
	} else {
		receipt, similar, err = rememberBeside(ctx, s, submission, command, c.Now)
	}
	if err != nil {
		return nil, err
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		status := http.StatusOK
		if receipt.Outcome == domain.Created || receipt.Outcome == domain.Proposed {
			status = http.StatusCreated
			to.SetHeader("Location", "/v1/knowledge/"+receipt.Knowledge.ID)
		}
		reply := serve.ReplyOf(receipt)
		reply.Body.Similar = similar
		to.SetHeader("Content-Type", serve.JSONType)
		to.SetHeader("ETag", reply.ETag)
		to.SetHeader("Annals-Position", reply.Position)
		to.SetHeader("Annals-Outcome", reply.Outcome)
		to.SetHeader("Annals-Events", reply.Events)
		to.SetHeader("Annals-Receipt", reply.Receipt)
		if reply.Redacted != "" {
			to.SetHeader("Annals-Redacted", reply.Redacted)
		}
		if receipt.Replayed {
			to.SetHeader("Idempotent-Replayed", reply.Replayed)
		}
		to.SetStatus(status)
		serve.WriteJSON(to.BodyWriter(), reply.Body)
	}}, nil
}

// provenance tells how a record came about.
type provenance struct {
	occurred time.Time
	cause    string
}

// into adds the provenance to the origin of the request.
func (w provenance) into(origin *domain.Origin) {
	origin.OccurredAt = w.occurred
	origin.CausationID = cmp.Or(w.cause, origin.CausationID)
}

// remembering makes a command of a record. The error names all mistakes in the record and those found before.
func remembering(
	by domain.Principal, record []byte, revise bool, found domain.Problems,
) (domain.Remember, provenance, error) {
	in, err := body.Decode[api.Knowledge](record, &found)
	if err != nil {
		return domain.Remember{ID: in.ID}, provenance{}, err
	}
	if utf8.RuneCountInString(in.CausationID) > 128 || strings.ContainsFunc(in.CausationID, unicode.IsControl) {
		found.Add("causation_id", "must be at most 128 characters without line breaks")
	}
	if in.Status != "" && in.Status != string(domain.Active) {
		found.Add("status", "must be active or left out: an item in another state is not remembered again")
	}
	command := serve.RememberOf(in, by)
	command.OrRevise = revise
	command, err = command.Complete()
	if err = serve.Merge(found, err); err != nil {
		return domain.Remember{ID: in.ID}, provenance{}, err
	}
	return command, provenance{serve.Value(in.OccurredAt), in.CausationID}, nil
}
