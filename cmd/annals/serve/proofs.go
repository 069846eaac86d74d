package serve

import (
	"context"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/events/proof"
)

// openProofs signs the log. It offers the proofs.
func openProofs(_ context.Context, c *core) (part, error) {
	prover := proof.NewProver(c.db, c.log, c.followers, c.key, proof.Options{Logger: c.logger, Known: proof.PublicKeys(c.cfg.Data)})
	return part{
		follow: []func(*message.Router){prover.Follow}, run: []func(context.Context){prover.Keep},
		offers: []any{prover}, finish: prover.Finish,
	}, nil
}
