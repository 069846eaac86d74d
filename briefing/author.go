package briefing

import (
	"context"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// Reader finds what is known.
type Reader interface {
	// SearchAll answers complete searches, in order. What they have in common is embedded once.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
	// List returns what its principal may see, newest first.
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
}

// Author writes briefings. It is safe for concurrent use.
type Author struct {
	Reader Reader
}

// Brief tells what is known that meets a need, which is complete (see [domain.Need.Complete]).
func (a Author) Brief(ctx context.Context, n domain.Need) (domain.Briefing, error) {
	selection := &selection{need: n}
	if n.Stage == domain.AtStart {
		if err := a.list(ctx, n, selection); err != nil {
			return domain.Briefing{}, err
		}
	}
	questions, err := questionsOf(n)
	if err != nil {
		return domain.Briefing{}, err
	}
	degraded, err := a.search(ctx, questions, selection)
	if err != nil {
		return domain.Briefing{}, err
	}
	return compose(selection.best(), strings.Join(append([]string{n.About}, n.Failures...), "\n"), n.MaxTokens, degraded), nil
}

// search asks all questions at once.
func (a Author) search(ctx context.Context, questions []domain.Search, s *selection) (degraded string, err error) {
	if len(questions) == 0 {
		return "", nil
	}
	answers, err := a.Reader.SearchAll(ctx, questions)
	if err != nil {
		return "", err
	}
	for _, answer := range answers {
		degraded = answer.Degraded
		s.add(answer.Hits...)
	}
	return degraded, nil
}
