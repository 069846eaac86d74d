package serve

import (
	"context"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/proofs"
)

// openProofs signs the log, and proves it. It offers the state of the proofs.
func openProofs(_ context.Context, c *core) (part, error) {
	options := proof.Options{Logger: c.logger, Known: signing.PublicKeys(c.cfg.Data)}
	prover := proof.NewProver(c.db, c.log, c.followers, c.key, options)
	return part{
		follow: []func(*message.Router){prover.Follow}, run: []func(context.Context){prover.Keep},
		offers: []any{prover}, rooms: []annalshttp.Room{proofs.Room{Prover: prover, Finder: c.log.Finder}},
		finish: prover.Finish,
	}, nil
}
