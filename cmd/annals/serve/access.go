package serve

import (
	"context"
	"errors"
	"time"
)

const keyedAccess = "everybody needs a key; annals key list shows who has one"

// access says who may call, and whether that is everybody.
func (s *Service) access(ctx context.Context, cfg Config) (says string, open bool, err error) {
	keyed, err := s.keys.Any(ctx)
	if keyed || cfg.RootKey != "" || cfg.Issuer != "" {
		return cfg.beside(keyedAccess), false, err
	}
	return openAccess, true, err
}

// betweenUses is how often is written when keys were used.
const betweenUses = 10 * time.Second

func (s *Service) writeUses(ctx context.Context) {
	for {
		select {
		case <-time.After(betweenUses):
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			s.warnUses(last, s.keys.Write(last))
			return
		}
		s.warnUses(ctx, s.keys.Write(ctx))
	}
}

func (s *Service) warnUses(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.logger.WarnContext(ctx, "when keys were used was not written", "error", err)
	}
}
