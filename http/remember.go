package http

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
)

type rememberInput struct {
	Update boolean `query:"update" doc:"Other content under a taken id revises that item instead of being refused. A caller who may change the item may leave its owner and its scopes as they are."`

	OnSimilar string `query:"on_similar" enum:"report,link,refuse,vote" doc:"For one item that is new: look for items of its audience that say the same, contradict it or resemble it, and name them in the answer. link relates it to its duplicates, too. refuse answers 409 if there are duplicates or contradictions. vote gives a helpful vote of yours to an item that has exactly this text, kind and audience, instead of remembering a second one. If left out, nothing is looked for."`
}

// streamed is an answer that a function writes.
type streamed struct {
	Body func(huma.Context)
}

// remember takes one item or many: an array or lines.
func (s *Server) remember(ctx context.Context, c *call, in *rememberInput) (*streamed, error) {
	media, err := mediaType(c.request, jsonType, linesType)
	if err != nil {
		return nil, err
	}
	if media == linesType {
		return s.rememberMany(c, c.request.Body, body.Lines, in)
	}
	sent := bufio.NewReaderSize(c.request.Body, 16) // a small buffer shows the first byte; readWhole has its own
	if body.Opening(sent) == '[' {
		return s.rememberMany(c, sent, body.Elements, in)
	}
	return s.rememberOne(ctx, c, sent, in)
}

func (s *Server) rememberOne(ctx context.Context, c *call, from io.Reader, in *rememberInput) (*streamed, error) {
	revise := valueOf(in.Update.read(&c.found, "update"))
	onSimilar := in.onSimilar(&c.found)
	sent, err := s.readWhole(c, from)
	if refusal, ok := errors.AsType[*domain.Refusal](err); ok && errors.Is(err, domain.ErrTooLarge) {
		return nil, refusal.WithFix("send many items as lines, with Content-Type: %s", linesType)
	}
	if err != nil {
		return nil, err
	}
	command, provenance, err := remembering(c.principal, sent, revise, c.found)
	if err != nil {
		return nil, err
	}
	if command.Revisions, err = c.expectedRevisions(); err != nil {
		return nil, err
	}
	command.OnSimilar = onSimilar
	submission := c.submission(command, sent)
	provenance.into(&submission.Origin)
	var receipt domain.Receipt
	var similar []domain.SimilarItem
	if onSimilar == "" {
		receipt, err = s.cfg.Writer.Submit(ctx, submission)
	} else {
		receipt, similar, err = rememberBeside(ctx, s, submission, command, c.now)
	}
	if err != nil {
		return nil, err
	}
	return &streamed{Body: func(to huma.Context) {
		status := http.StatusOK
		if receipt.Outcome == domain.Created {
			status = http.StatusCreated
			to.SetHeader("Location", "/v1/knowledge/"+receipt.Knowledge.ID)
		}
		reply := replyOf(receipt)
		reply.Body.Similar = similarOf(reply.Body.ID, similar)
		to.SetHeader("Content-Type", jsonType)
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
		write(to.BodyWriter(), reply.Body)
	}}, nil
}

// write encodes an answer. It ignores errors: the caller may have left.
func write(to io.Writer, body any) {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body)
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
	command := rememberOf(in, by)
	command.OrRevise = revise
	command, err = command.Complete()
	if err = merge(found, err); err != nil {
		return domain.Remember{ID: in.ID}, provenance{}, err
	}
	return command, provenance{valueOf(in.OccurredAt), in.CausationID}, nil
}

func rememberOf(in api.Knowledge, by domain.Principal) domain.Remember {
	id := in.ID
	if id == "" {
		id = newID()
	}
	return domain.Remember{
		By: by, ID: id, Reason: in.Reason, Confirm: in.Confirm, Visibility: domain.Visibility(in.Visibility),
		Knowledge: domain.Remembered{
			Type: domain.Type(in.Type), ContextType: domain.ContextType(in.ContextType),
			Category: domain.Category(in.Category), Polarity: domain.Polarity(in.Polarity),
			Media: domain.Media(in.Media), Scopes: fromStrings[domain.Scope](in.Scopes),
			Owner: domain.Entity(in.Owner), Source: sourceIn(in.Source), Baseline: baselineIn(in.Eval),
			Text: domain.Text{
				Task: in.Task, Content: in.Content, Abstract: in.Abstract, Overview: in.Overview,
				Tags: domain.Tags(in.Tags), Meta: in.Meta, URI: in.URI,
			},
		},
	}
}

func sourceIn(s *api.Source) domain.Source {
	if s == nil {
		return domain.Source{}
	}
	return domain.Source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID,
		SubmittedBy: s.SubmittedBy, Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

// baselineIn is the baseline; omitted fields have their default.
func baselineIn(e *api.Eval) *domain.Eval {
	if e == nil {
		return nil
	}
	baseline := domain.DefaultBaseline()
	override(&baseline.Helpful, e.Helpful)
	override(&baseline.Harmful, e.Harmful)
	override(&baseline.Confidence, e.Confidence)
	baseline.HelpfulHistory = usesIn(e.HelpfulHistory)
	baseline.HarmfulHistory = usesIn(e.HarmfulHistory)
	return &baseline
}

func override[T any](value *T, given *T) {
	if given != nil {
		*value = *given
	}
}

func usesIn(all []api.VoteRecord) []domain.Use {
	var uses []domain.Use
	for _, u := range all {
		uses = append(uses, domain.Use{
			Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: domain.Entity(u.By), At: valueOf(u.At),
		})
	}
	return uses
}

// valueOf is the value that was given, or the zero value.
func valueOf[T any](given *T) (value T) {
	if given != nil {
		value = *given
	}
	return value
}

// reply answers a write: the item afterwards, and what the write did.
type reply struct {
	ETag     string `header:"ETag" doc:"The item's revision; for If-Match."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"created,revised,recorded,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas; a vote is taken back by its event's."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
	Body     *api.Knowledge
}

// receipt answers a write that has no item to show.
type receipt struct {
	ETag     string `header:"ETag" doc:"The item's revision."`
	Position string `header:"Annals-Position" doc:"Read at this position of the log or later and you see the outcome."`
	Outcome  string `header:"Annals-Outcome" enum:"revised,unchanged" doc:"What the write did."`
	Events   string `header:"Annals-Events" doc:"Ids of the events it recorded, separated by commas."`
	Receipt  string `header:"Annals-Receipt" doc:"What to keep in order to ask for proof: of each event its id, position and hash in hexadecimal, separated by spaces; events by commas."`
	Replayed string `header:"Idempotent-Replayed" doc:"true if the request had been made before."`
	Redacted string `header:"Annals-Redacted" doc:"What was taken out of the texts before they were recorded, such as email=1,phone=2."`
}

func replyOf(r domain.Receipt) *reply {
	done, body := receiptOf(r), knowledgeOf(r.Knowledge)
	body.Redacted = r.Redacted
	return &reply{
		ETag: done.ETag, Position: done.Position, Outcome: done.Outcome, Events: done.Events,
		Receipt: done.Receipt, Replayed: done.Replayed, Redacted: done.Redacted, Body: body,
	}
}

func receiptOf(r domain.Receipt) *receipt {
	ids, triples := make([]string, len(r.Events)), make([]string, len(r.Events))
	for i, event := range keptOf(r) {
		ids[i] = event.EventID
		triples[i] = event.EventID + " " + strconv.FormatInt(event.Position, 10) + " " + event.Hash
	}
	replayed := ""
	if r.Replayed {
		replayed = "true"
	}
	return &receipt{
		ETag: etag(r.Knowledge.Revision), Position: strconv.FormatInt(r.Position, 10),
		Outcome: r.Outcome, Events: strings.Join(ids, ","),
		Receipt: strings.Join(triples, ","), Replayed: replayed, Redacted: redactedOf(r),
	}
}

// redactedOf lists what was redacted, by class, for a header.
func redactedOf(r domain.Receipt) string {
	if len(r.Redacted) == 0 {
		return ""
	}
	classes := make([]string, 0, len(r.Redacted))
	for _, class := range slices.Sorted(maps.Keys(r.Redacted)) {
		classes = append(classes, fmt.Sprintf("%s=%d", class, r.Redacted[class]))
	}
	return strings.Join(classes, ",")
}

func keptOf(r domain.Receipt) []api.KeptVersion {
	return mapped(r.Events, func(e domain.Event) api.KeptVersion {
		return api.KeptVersion{EventID: e.EventID, Position: e.Position, Hash: hex.EncodeToString(e.Hash)}
	})
}
