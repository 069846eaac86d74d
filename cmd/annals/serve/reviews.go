package serve

import (
	"context"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/projections/review"
)

// openReviews proposes to review items. A model judges, if one is offered.
func openReviews(_ context.Context, c *core) (part, error) {
	proposer := &review.Proposer{
		Off: c.cfg.Review == "off", Log: c.log, Followers: c.followers,
		Reader: c.knowledge.Browser, Searcher: c.knowledge.Searcher,
		Proposals: c.reports(), Writer: c.entrance, Judge: offered[review.Judge](c), Logger: c.logger,
	}
	return part{follow: []func(*message.Router){proposer.Follow}, status: []statusOf{proposer.Status}}, nil
}
