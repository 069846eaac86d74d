package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/annals-kb/annals/cmd/annals/terminal"
)

type ServeCommand struct {
	Config

	CPUProfile string `placeholder:"FILE"`
}

// Run implements the command.
func (s *ServeCommand) Run(ctx context.Context, c *terminal.Console) (err error) {
	cfg := s.Complete()
	if err := cfg.validate(); err != nil {
		return err
	}
	erased, err := ErasuresIn(cfg.Erased)
	if err != nil {
		return err
	}
	profiled, err := profile(s.CPUProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, profiled()) }()
	embedder, why, err := cfg.Choose()
	if err != nil {
		return err
	}
	former, err := cfg.former()
	if err != nil {
		return err
	}
	beyond, err := reachable(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // the service closes it; this is for when there is none
	logger := cfg.Logger(c)
	if listener, err = cfg.encrypt(listener, logger); err != nil {
		return err
	}
	fresh, unknown := IsNew(ctx, cfg.Database, logger) // what is wrong with it shows when it is opened
	if beyond && cfg.isOpenWithoutKeys() && unknown == nil && fresh {
		return openBeyond(cfg.Listen)
	}
	service, err := OpenService(ctx, cfg, embedder, former, logger)
	if err != nil {
		return err
	}
	if err := service.eraseAgain(ctx, erased); err != nil {
		return errors.Join(err, service.Close())
	}
	access, open, err := service.access(ctx, cfg)
	if err == nil && open && beyond {
		err = openBeyond(cfg.Listen)
	}
	if err != nil {
		return errors.Join(err, service.Close())
	}
	url := cfg.scheme() + listener.Addr().String()
	err = errors.Join(service.db.Announce(url), Welcome{
		URL: url, Database: DatabaseName(cfg.Database), Access: access,
		Embedder: embedder.Name(), Why: why, Data: Absolute(cfg.Data), Open: open, New: unknown == nil && fresh,
	}.print(c))
	if err == nil {
		logger.InfoContext(ctx, "serving", "url", url, "version", terminal.Version().Version)
		err = service.serve(ctx, listener)
	}
	err = errors.Join(err, service.Close())
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	logger.InfoContext(context.WithoutCancel(ctx), "stopped")
	return nil
}

// openBeyond refuses to be open to others than this machine.
func openBeyond(address string) error {
	return terminal.Wrong("make a key first: annals key create user:YOU --role root --offline; or listen on 127.0.0.1",
		"in open mode annals serves this machine alone, and %s is reachable from others", address)
}
