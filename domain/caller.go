package domain

import "context"

type callerKey struct{}

// caller is who asked for something, and how that came about.
type caller struct {
	by     Principal
	origin Origin
}

// WithCaller notes on whose request something is done, for what is recorded about it far from where the
// request came in.
func WithCaller(ctx context.Context, by Principal, origin Origin) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{by, origin})
}

// CallerOf is who asked; the server itself if nobody did.
func CallerOf(ctx context.Context) (Principal, Origin) {
	if c, known := ctx.Value(callerKey{}).(caller); known {
		return c.by, c.origin
	}
	return SystemPrincipal(), Origin{}
}
