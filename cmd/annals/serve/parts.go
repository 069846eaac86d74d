package serve

import (
	"context"
	"log/slog"
	"slices"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	httpserve "github.com/annals-kb/annals/http/serve"
)

// joining is how a part joins the server. What a part does not need is nil.
type joining struct {
	// check names what is wrong with the settings of the part.
	check func(Config) error
	// issuer is whose tokens are accepted besides keys; empty for none.
	issuer func(Config) string
	// invites tells whether the first admin can make a key with a link.
	invites func(Config) bool
	// prepare comes before the database is opened.
	prepare func(context.Context, *Config, *slog.Logger) error
	// log changes the options of the log, which the core does not have yet.
	log func(*core, *events.Options) error
	// open makes the part. It may ask for what the parts before it offer.
	open func(context.Context, *core) (part, error)
}

// parts are all parts, in the order in which they are opened. A part can be deleted with its folders, its files and the
// lines that name it, which end with its name: scripts/without.sh tries that.
func parts() []joining {
	return []joining{
		{open: openMeaning},
		{open: openErasures},
		{open: openProofs},                                              // part: proofs
		{open: openStandby, check: checkStandby},                        // part: standby
		{open: openReceipts, check: checkReceipts},                      // part: receipts
		{open: openOIDC, check: checkOIDC, issuer: Config.oidcIssuer},   // part: oidc
		{open: openExtraction, check: checkExtraction},                  // part: extraction
		{open: openNATS, check: checkNATS},                              // part: nats
		{open: openBackup, check: checkBackup},                          // part: backup
		{open: openTelemetry, prepare: prepareTelemetry, log: traceLog}, // part: telemetry
		{open: openQuotas, check: checkQuotas, log: limitLog},           // part: quotas
		{open: openPolicies},                                            // part: policies
		{open: openWebhooks},                                            // part: webhooks
		{open: openContain},                                             // part: contain
		{open: openReads},                                               // part: standby
		{open: openReviews},
		{open: openRebuilds},
		{open: openDocuments}, // part: documents
		{open: openViking},    // part: viking
		{open: openSCIM},      // part: scim
		{open: openMCP},       // part: mcp
		{open: openConsole, invites: Config.hasConsole, check: checkTraceURL}, // part: console
	}
}

// part is what a part hands over. What it lacks is nil.
type part struct {
	follow []func(*message.Router)                 // followers of the log
	run    []func(context.Context)                 // background work, until the context ends
	reads  []func(context.Context)                 // background work that a standby does, too: it writes nothing there
	status []statusOf                              // states of its projections
	writer func(httpserve.Writer) httpserve.Writer // wraps the writer of callers
	search func(search) search                     // wraps the search of callers
	rooms  []annalshttp.Room                       // operations of the API
	mounts []annalshttp.Mount
	probes []operate.Probe
	models []operate.Model
	api    func(*annalshttp.Config)   // changes other settings of the API
	offers []any                      // what later parts find: see offered
	pages  string                     // the path of pages for people; empty for none
	invite func(server string) string // the link with which the first admin makes a key
	close  func() error               // before the log is closed
	finish func(context.Context)      // after the log is closed
}

type (
	search   func(context.Context, domain.Search) (domain.Answer, error)
	statusOf func(ctx context.Context, tenant string) (domain.ProjectionStatus, error)
)

// offered is the first of what the parts offer that is a T: nil if none is. A part declares the interface T itself.
func offered[T any](c *core) (found T) {
	for _, p := range c.parts {
		for _, offer := range p.offers {
			if found, is := offer.(T); is {
				return found
			}
		}
	}
	return found
}

// issuer is whose tokens are accepted besides keys; empty for none.
func (c Config) issuer() string {
	for _, p := range parts() {
		if p.issuer != nil && p.issuer(c) != "" {
			return p.issuer(c)
		}
	}
	return ""
}

// invites tells whether the first admin can make a key with a link.
func (c Config) invites() bool {
	return slices.ContainsFunc(parts(), func(p joining) bool { return p.invites != nil && p.invites(c) })
}

// prepare lets parts do what comes before the database is opened.
func (c *Config) prepare(ctx context.Context, logger *slog.Logger) error {
	for _, p := range parts() {
		if p.prepare != nil {
			if err := p.prepare(ctx, c, logger); err != nil {
				return err
			}
		}
	}
	return nil
}
