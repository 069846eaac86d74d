package main

import (
	"context"
	"errors"
	"fmt"
)

type serveCommand struct {
	config

	CPUProfile string `placeholder:"FILE" help:"Write what the processor is busy with to this file, for go tool pprof, until the server ends."`
}

// Help implements kong.HelpProvider.
func (serveCommand) Help() string {
	return `Without any setting it keeps everything in ~/.local/share/annals and listens on http://127.0.0.1:1933. SIGINT and SIGTERM end it
when accepted requests are finished; a second signal ends it at once.

Examples:

    annals serve
    annals serve --listen 127.0.0.1:0 --data /var/lib/annals
    DATABASE_URL=postgres://annals:secret@db.internal/annals annals serve
    OPENAI_API_KEY=sk-… annals serve`
}

// Run implements the command.
func (s *serveCommand) Run(ctx context.Context, c *console) (err error) {
	cfg := s.complete()
	if err := cfg.validate(); err != nil {
		return err
	}
	erased, err := erasuresIn(cfg.Erased)
	if err != nil {
		return err
	}
	profiled, err := profile(s.CPUProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, profiled()) }()
	embedder, why, err := cfg.choose()
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
	logger := cfg.logger(c)
	if listener, err = cfg.encrypt(listener, logger); err != nil {
		return err
	}
	fresh, unknown := isNew(ctx, cfg.Database, logger) // what is wrong with it shows when it is opened
	if beyond && cfg.isOpenWithoutKeys() && unknown == nil && fresh {
		return openBeyond(cfg.Listen)
	}
	service, err := openService(ctx, cfg, embedder, former, logger)
	if err != nil {
		return err
	}
	if err := service.eraseAgain(ctx, erased); err != nil {
		return errors.Join(err, service.close())
	}
	access, open, err := service.access(ctx, cfg)
	if err == nil && open && beyond {
		err = openBeyond(cfg.Listen)
	}
	if err != nil {
		return errors.Join(err, service.close())
	}
	url := cfg.scheme() + listener.Addr().String()
	err = errors.Join(service.db.Announce(url), welcome{
		URL: url, Database: databaseName(cfg.Database), Access: access,
		Embedder: embedder.Name(), Why: why, Data: absolute(cfg.Data), Open: open, New: unknown == nil && fresh,
	}.print(c))
	if err == nil {
		logger.InfoContext(ctx, "serving", "url", url, "version", version().Version)
		err = service.serve(ctx, listener)
	}
	err = errors.Join(err, service.close())
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	logger.InfoContext(context.WithoutCancel(ctx), "stopped")
	return nil
}

// openBeyond refuses to be open to others than this machine.
func openBeyond(address string) error {
	return wrong("make a key first: annals key create user:YOU --role root --offline; or listen on 127.0.0.1",
		"in open mode annals serves this machine alone, and %s is reachable from others", address)
}
