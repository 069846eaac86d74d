package forward

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	watermillnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
)

// NATSOptions say where to forward the log. URL is required.
type NATSOptions struct {
	URL    string // nats://HOST:PORT or tls://HOST:PORT; several with commas
	Prefix string // of the subjects PREFIX.TENANT.NAME; default: annals
	Texts  bool   // forward texts, too
	Logger *slog.Logger
}

// Validate names everything that is wrong at once. It repeats no URL, which may hold a password.
func (o NATSOptions) Validate() error {
	var problems []error
	for server := range strings.SplitSeq(o.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			problems = append(problems, errors.New("a URL must be nats://HOST:PORT or tls://HOST:PORT"))
			break
		}
	}
	if strings.ContainsAny(o.Prefix, " \t\r\n*>") || o.Prefix != "" && strings.Contains("."+o.Prefix+".", "..") {
		problems = append(problems, errors.New("the subjects' prefix must be words joined by dots, without * and >"))
	}
	return errors.Join(problems...)
}

// NATS publishes every event to JetStream. It is safe for concurrent use. The caller closes it after the router.
type NATS struct {
	followers *follow.Followers
	options   NATSOptions
	conn      *nats.Conn
	stream    nats.JetStreamContext
	publisher *watermillnats.Publisher
}

// OpenNATS prepares to publish. It retries an unreachable server without end; the error reports invalid options.
func OpenNATS(followers *follow.Followers, o NATSOptions) (*NATS, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Prefix = cmp.Or(o.Prefix, "annals")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	conn, err := nats.Connect(o.URL, nats.Name("annals"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), // a publication that cannot be sent now fails now, and the page comes again
		nats.ReconnectWait(time.Second), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Logger.Warn("the connection to NATS has trouble", "error", err)
		}))
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to NATS: %w", err)
	}
	stream, err := conn.JetStream()
	if err == nil {
		var publisher *watermillnats.Publisher
		publisher, err = watermillnats.NewPublisherWithNatsConn(conn, watermillnats.PublisherPublishConfig{
			Marshaler: &watermillnats.NATSMarshaler{}, SubjectCalculator: watermillnats.DefaultSubjectCalculator,
			JetStream: watermillnats.JetStreamConfig{TrackMsgId: true},
		}, watermill.NewSlogLogger(o.Logger))
		if err == nil {
			return &NATS{followers: followers, options: o, conn: conn, stream: stream, publisher: publisher}, nil
		}
	}
	conn.Close()
	return nil, fmt.Errorf("prepare JetStream: %w", err)
}

// Name is the name of its checkpoints. With another prefix, the log is forwarded again.
func (n *NATS) Name() string { return "nats:" + n.options.Prefix }

// Follow makes it follow the log as a handler of the router.
func (n *NATS) Follow(router *message.Router) {
	follow.AddPreparer(router, n.followers, n.Name(), n.publish)
}

// Close ends the connection.
func (n *NATS) Close() error { return n.publisher.Close() }

// publish publishes the events of a page in order, each after the previous one was stored. The change only moves the
// checkpoint. A page that was interrupted is published again, and JetStream drops duplicates by their ids.
func (n *NATS) publish(ctx context.Context, page follow.Page) (follow.Change, error) {
	if !n.conn.IsConnected() {
		return nil, fmt.Errorf("%w: NATS does not answer at %s", domain.ErrUnavailable, n.where())
	}
	if err := n.ensure(); err != nil {
		return nil, passing(err)
	}
	for _, e := range page.Events {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := json.Marshal(n.forwardedOf(e))
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", e.EventID, err)
		}
		subject := strings.Join([]string{n.options.Prefix, e.Tenant, e.Name}, ".")
		if err := n.publisher.Publish(subject, message.NewMessage(e.EventID, body)); err != nil {
			return nil, fmt.Errorf("publish position %d to %s: %w", e.Position, subject, passing(err))
		}
	}
	return follow.NoChange{}, nil
}

// passing marks an error as temporary, unless the event caused it: then waiting does not help.
func passing(err error) error {
	if errors.Is(err, nats.ErrMaxPayload) {
		return err
	}
	return fmt.Errorf("%w: NATS: %w", domain.ErrUnavailable, err)
}

// where names the servers without their secrets.
func (n *NATS) where() string {
	var names []string
	for _, server := range n.conn.Servers() {
		if _, rest, found := strings.Cut(server, "@"); found {
			server = rest
		}
		names = append(names, server)
	}
	return strings.Join(names, ", ")
}

// recent is how long JetStream detects duplicates.
const recent = 10 * time.Minute

// ensure makes a stream for the subjects unless the operator has made one.
func (n *NATS) ensure() error {
	subjects := n.options.Prefix + ".>"
	_, err := n.stream.StreamNameBySubject(subjects)
	if err == nil {
		return nil
	}
	if !errors.Is(err, nats.ErrNoMatchingStream) {
		return fmt.Errorf("look for the stream of %s: %w", subjects, err)
	}
	_, err = n.stream.AddStream(&nats.StreamConfig{
		Name:     strings.ToUpper(strings.NewReplacer(".", "_", "/", "_", "\\", "_").Replace(n.options.Prefix)),
		Subjects: []string{subjects}, Duplicates: recent, Description: "The log of Annals, as it was recorded",
	})
	if err != nil {
		return fmt.Errorf("make a stream for %s: %w", subjects, err)
	}
	return nil
}

// forwarded is the JSON of an event for subscribers.
type forwarded struct {
	Tenant         string          `json:"tenant"`
	Name           string          `json:"name"`
	Stream         string          `json:"stream"`
	Version        int64           `json:"version"`
	Position       int64           `json:"position"`
	EventID        string          `json:"event_id"`
	SchemaVersion  int             `json:"schema_version"`
	RecordedAt     time.Time       `json:"recorded_at"`
	OccurredAt     time.Time       `json:"occurred_at,omitzero"`
	Actor          domain.Entity   `json:"actor"`
	OnBehalfOf     domain.Entity   `json:"on_behalf_of,omitempty"`
	Authentication string          `json:"authentication"`
	RequestID      string          `json:"request_id,omitempty"`
	CorrelationID  string          `json:"correlation_id,omitempty"`
	CausationID    string          `json:"causation_id,omitempty"`
	Traceparent    string          `json:"traceparent,omitempty"`
	ReasonCode     string          `json:"reason_code,omitempty"`
	Data           json.RawMessage `json:"data"`
	Text           json.RawMessage `json:"text,omitempty"` // only if the options say so
	Hash           string          `json:"hash"`
}

func (n *NATS) forwardedOf(e domain.Event) forwarded {
	f := forwarded{
		Tenant: e.Tenant, Name: e.Name, Stream: e.Stream, Version: e.Version, Position: e.Position, EventID: e.EventID,
		SchemaVersion: e.SchemaVersion, RecordedAt: e.RecordedAt.UTC(), OccurredAt: e.OccurredAt, Actor: e.Actor,
		OnBehalfOf: e.OnBehalfOf, Authentication: e.Authentication, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		CausationID: e.CausationID, Traceparent: e.Traceparent, ReasonCode: e.ReasonCode, Data: e.Data,
		Hash: hex.EncodeToString(e.Hash),
	}
	if n.options.Texts {
		f.Text = e.Text
	}
	return f
}

// Status is the progress of forwarding a tenant's log.
func (n *NATS) Status(ctx context.Context, tenant string) (domain.ProjectionStatus, error) {
	s := domain.ProjectionStatus{Name: "nats", Version: 1, State: "active", Settings: map[string]string{
		"subjects": n.options.Prefix + "." + tenant + ".>", "texts": fmt.Sprint(n.options.Texts),
	}}
	f, err := n.followers.SubscriptionStatus(ctx, n.Name(), tenant)
	return f.Describe(s), err
}
