package sessions

import (
	"cmp"
	"context"

	"github.com/annals-kb/annals/domain"
)

// Lessons knows for whom the lessons of a tenant are.
type Lessons struct {
	Sessions interface {
		LearnedFor(ctx context.Context, tenant string) (domain.LearnedFor, error)
	}
	// Personal describes why a lesson may be about a person; empty if it is not.
	Personal func(domain.Category, domain.Text) string
}

// For gives a lesson the audience of the lessons of sessions.
func (l Lessons) For(ctx context.Context, command domain.Remember) (domain.Remember, error) {
	k := command.Knowledge
	if !k.Category.IsLesson() || l.Personal(k.Category, k.Text) != "" {
		return command, nil
	}
	rule, err := l.Sessions.LearnedFor(ctx, command.By.Tenant)
	rule = cmp.Or(rule, domain.LearnedShared)
	to := rule.Audience(command.By)
	if rule == domain.LearnedShared {
		to = cmp.Or(to, domain.OnlyTeam(command.By.Memberships).Scope())
	}
	if to == "" {
		return command, err
	}
	return command.For(to), err
}
