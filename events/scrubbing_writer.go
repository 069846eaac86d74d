package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text/scrub"
)

// ScrubbingWriter submits commands to the log. It first scrubs their texts by the tenant's rules, before any
// decision. It is safe for concurrent use.
type ScrubbingWriter struct {
	log   *Log
	scrub bool

	mu    sync.Mutex
	rules map[string]tenantRules
}

// tenantRules are a tenant's scrubbing rules, with the time of their reading.
type tenantRules struct {
	rules    domain.Scrubbing
	scrubber *scrub.Scrubber // without the rules of scopes
	read     time.Time
}

// scrubberFor is the scrubber of a command. It refuses to share an item with scopes that do not allow what it has.
func (e *ScrubbingWriter) scrubberFor(
	ctx context.Context, tenant string, command domain.Command,
) (*scrub.Scrubber, error) {
	r, err := e.tenantRules(ctx, tenant)
	id, isItem := domain.ItemOf(command.Stream())
	if err != nil || !isItem || len(r.rules.Allow) == 0 {
		return r.scrubber, err
	}
	k, err := e.log.Finder.AsOf(ctx, tenant, id, math.MaxInt64, domain.HalfDiscounted())
	if err != nil {
		return nil, err
	}
	scopes := domain.ScopesAfter(command, k)
	scrubber := r.scrubber.Without(r.rules.OffFor(scopes))
	if _, revises := command.(domain.Revise); revises && !domain.SameScopes(scopes, k.Scopes) {
		var redacted map[string]int
		_, redacted, err = rewrite(ctx, scrubber, domain.Remember{Knowledge: domain.Remembered{Text: k.Text}})
		if redacted != nil {
			var p domain.Problems
			p.Add("scopes", "do not all allow what its text has (%s): revise the text first", domain.Redactions(redacted))
			err = p.Err()
		}
	}
	return scrubber, err
}

// freshRules is how long cached rules are used: a change on another node takes effect after this time.
const freshRules = time.Second

// NewScrubbingWriter makes a writer for a log. Without scrubs, it submits texts unchanged.
func NewScrubbingWriter(log *Log, scrubs bool) *ScrubbingWriter {
	return &ScrubbingWriter{log: log, scrub: scrubs, rules: map[string]tenantRules{}}
}

// Scrubs tells whether this server scrubs at all.
func (e *ScrubbingWriter) Scrubs() bool { return e.scrub }

// Rules are a tenant's own scrubbing rules.
func (e *ScrubbingWriter) Rules(ctx context.Context, tenant string) (domain.Scrubbing, error) {
	stream, err := e.log.Reader.State(ctx, tenant, domain.ScrubbingStream)
	rules, _ := stream.State.(domain.Scrubbing)
	return rules, err
}

// Clean is a text of a tenant after scrubbing.
func (e *ScrubbingWriter) Clean(ctx context.Context, tenant, text string) (string, error) {
	if !e.scrub {
		return text, nil
	}
	rules, err := e.tenantRules(ctx, tenant)
	if err != nil {
		return "", err
	}
	clean, _, err := rules.scrubber.Scrub(ctx, text)
	return clean, err
}

// Submit is [Log.Submit] of the scrubbed command. The receipt counts the redactions.
func (e *ScrubbingWriter) Submit(ctx context.Context, s domain.Submission) (domain.Receipt, error) {
	result := e.SubmitAll(ctx, []domain.Submission{s})[0]
	return result.Receipt, result.Err
}

// SubmitAll is [Log.SubmitAll] of the scrubbed commands. A secret in a field that cannot be rewritten is an
// [*domain.Invalid] that names the field.
func (e *ScrubbingWriter) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	results := make([]domain.Result, len(submissions))
	clean := make([]domain.Submission, 0, len(submissions))
	places := make([]int, 0, len(submissions))
	closed := map[string]error{}
	for i, s := range submissions {
		command, redacted, err := e.admit(ctx, s.By, s.Command)
		s.Then = slices.Clone(s.Then)
		for j := 0; j < len(s.Then) && err == nil; j++ { // they repeat the texts of the command
			s.Then[j], _, err = e.admit(ctx, s.By, s.Then[j])
		}
		if err == nil {
			err = e.closed(ctx, s, closed)
		}
		if err == nil && s.Whole && redacted != nil {
			refusal := domain.Refuse(domain.ErrRedacted, "it has %s", domain.Redactions(redacted)).
				WithFix("leave it out, or send it without Annals-Redaction: then it is taken out")
			refusal.Redacted = redacted
			err = refusal
		}
		if err != nil {
			results[i].Err = err
			continue
		}
		results[i].Receipt.Redacted = redacted
		s.Command = command
		clean, places = append(clean, s), append(places, i)
	}
	for i, result := range e.log.SubmitAll(ctx, clean) {
		result.Receipt.Redacted = results[places[i]].Receipt.Redacted
		results[places[i]] = result
		if _, changes := clean[i].Command.(domain.ChangeScrubbing); changes {
			e.forget(clean[i].By.Tenant)
		}
	}
	return results
}

// closed refuses writes to an erased tenant. Since its keys were revoked, only root and callers with a token reach
// it. known caches the answers by tenant.
func (e *ScrubbingWriter) closed(ctx context.Context, s domain.Submission, known map[string]error) error {
	tenant := s.By.Tenant
	_, erases := s.Command.(domain.OrderErasure)
	keyed := s.By.HasKey() && s.By.Role != domain.Root
	if erases || keyed || tenant == domain.DefaultTenant || tenant == domain.SystemTenant {
		return nil
	}
	if err, found := known[tenant]; found {
		return err
	}
	stream, err := e.log.Reader.State(
		database.ForTenant(ctx, domain.SystemTenant), domain.SystemTenant, domain.TenantStreams.Of(tenant),
	)
	if state, _ := stream.State.(domain.Tenant); err == nil && !state.ErasedAt.IsZero() {
		err = domain.Refuse(domain.ErrErased, "the tenant %s was erased, and nothing is written there any more", tenant)
	}
	known[tenant] = err
	return err
}

// admit is the scrubbed command, and the count of redactions.
func (e *ScrubbingWriter) admit(
	ctx context.Context, by domain.Principal, submitted domain.Command,
) (domain.Command, map[string]int, error) {
	if change, changes := submitted.(domain.ChangeScrubbing); changes {
		_, err := scrubberOf(change.Rules)
		return submitted, nil, err
	}
	written, isWritten := submitted.(domain.TextCommand)
	if !isWritten || !e.scrub {
		return submitted, nil, nil
	}
	scrubber, err := e.scrubberFor(ctx, by.Tenant, submitted)
	if err != nil {
		return nil, nil, err
	}
	return rewrite(ctx, scrubber, written)
}

// rewrite is the scrubbed command, and the count of redactions.
func rewrite(
	ctx context.Context, scrubber *scrub.Scrubber, written domain.TextCommand,
) (domain.Command, map[string]int, error) {
	var redacted map[string]int
	var problems domain.Problems
	var ended error
	command := written.RewriteText(domain.TextRewriter{
		Text: func(text string) string {
			clean, found, err := scrubber.Scrub(ctx, text)
			ended = cmp.Or(ended, err)
			for class, n := range found {
				if redacted == nil {
					redacted = map[string]int{}
				}
				redacted[string(class)] += n
			}
			return clean
		},
		Name: func(field, name string) {
			_, found, err := scrubber.Scrub(ctx, name)
			ended = cmp.Or(ended, err)
			for _, class := range secrets() {
				if found[class] > 0 {
					problems.Add(
						field, "has what looks like a secret (%s) in a name, where it cannot be redacted: choose another", class,
					)
				}
			}
		},
	})
	return command, redacted, cmp.Or(ended, problems.Err())
}

// tenantRules are a tenant's rules, which may be cached for [freshRules].
func (e *ScrubbingWriter) tenantRules(ctx context.Context, tenant string) (tenantRules, error) {
	e.mu.Lock()
	known, found := e.rules[tenant]
	e.mu.Unlock()
	now := time.Now()
	if found && now.Sub(known.read) < freshRules {
		return known, nil
	}
	rules, err := e.Rules(ctx, tenant)
	if err != nil {
		return tenantRules{}, err
	}
	scrubber, err := scrubberOf(rules)
	if err != nil {
		return tenantRules{}, fmt.Errorf("follow the rules for scrubbing: %w", errors.New("a pattern cannot be read"))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rules[tenant] = tenantRules{rules, scrubber, now}
	return e.rules[tenant], nil
}

func (e *ScrubbingWriter) forget(tenant string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.rules, tenant)
}

// scrubberOf compiles rules; the error names every invalid one.
func scrubberOf(rules domain.Scrubbing) (*scrub.Scrubber, error) {
	var problems domain.Problems
	var off []scrub.Class
	known := func(field string, i int, class string) {
		if !slices.Contains(scrub.Classes(), scrub.Class(class)) {
			problems.Add(fmt.Sprintf("%s[%d]", field, i), "must be one of api_key, jwt, private_key, email, phone, cc")
		}
	}
	for i, allowed := range rules.Allow {
		_, class, _ := strings.Cut(allowed, "=")
		known("allow", i, class)
	}
	for i, class := range rules.Off {
		known("off", i, class)
		off = append(off, scrub.Class(class))
	}
	if len(rules.Patterns) > scrub.MostPatterns {
		problems.Add("patterns", "must be at most %d", scrub.MostPatterns)
	}
	var patterns []scrub.Pattern
	for i, p := range rules.Patterns {
		pattern := scrub.Pattern{Class: scrub.Class(p.Class), Expression: p.Expression}
		if err := pattern.Validate(); err != nil {
			problems.Add(fmt.Sprintf("patterns[%d]", i), "%s", err)
		}
		patterns = append(patterns, pattern)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return scrub.New(off, patterns)
}
