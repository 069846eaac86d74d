package operate

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/api"
	"github.com/annals-kb/annals/client"
	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"

	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/projections"
)

// KeyCommands are what can be done with keys.
type KeyCommands struct {
	Create keyCreateCommand `cmd:""`
	List   keyListCommand   `cmd:""`
	Rotate keyRotateCommand `cmd:""`
	Revoke keyRevokeCommand `cmd:""`
}

type keyCreateCommand struct {
	terminal.Remote
	serve.Storage

	Subject       string   `arg:""`
	Role          string   `default:"member" enum:"member,service,auditor,admin,root" placeholder:"ROLE"`
	Member        []string `field:"memberships" placeholder:"ENTITY"`
	ActsFor       bool
	PublishPublic bool
	Expires       string `field:"expires_at" placeholder:"TIME"`
	Note          string `placeholder:"TEXT"`
	Offline       bool
}

// Run implements the command.
func (k *keyCreateCommand) Run(ctx context.Context, c *terminal.Console) error {
	expires, err := terminal.WhenOf("expires", k.Expires, time.Now())
	if err != nil {
		return err
	}
	if err := c.WillBeRead("the key"); err != nil {
		return err
	}
	if k.Offline {
		return k.offline(ctx, c, expires)
	}
	body := api.NewKey{
		Subject: k.Subject, Role: k.Role, Memberships: k.Member, ActsFor: k.ActsFor,
		PublishPublic: k.PublishPublic, Note: k.Note, ExpiresAt: terminal.IfSet(expires),
	}
	open := isOpen(ctx, k.Remote)
	err = showKey(ctx, c, k.Remote, client.Request{Method: http.MethodPost, Path: []string{"v1", "keys"}, Body: body})
	if open && (err == nil || isLost(err)) {
		closed(c)
	}
	return err
}

// offline writes the key into the database.
func (k *keyCreateCommand) offline(ctx context.Context, c *terminal.Console, expires time.Time) (err error) {
	cfg := serve.Config{Storage: k.Opened(c)}
	by := domain.SystemPrincipal()
	by.Tenant = domain.DefaultTenant
	if k.Tenant != "" {
		by.Tenant = k.Tenant
	}
	prefix, key := annalshttp.NewKey()
	created := domain.KeyCreated{
		Hash: annalshttp.HashOfKey(key), Subject: domain.Entity(k.Subject), Role: domain.Role(k.Role), ActsFor: k.ActsFor,
		PublishPublic: k.PublishPublic, ExpiresAt: expires, Note: k.Note,
	}
	for _, e := range k.Member {
		created.Memberships = append(created.Memberships, domain.Entity(e))
	}
	command := domain.CreateKey{By: by, Prefix: prefix, Key: created}
	if err := command.Validate(time.Now()); err != nil {
		return refusedKey(err)
	}
	administers := created.Role == domain.Admin || created.Role == domain.Root
	notFirst := terminal.Wrong("add --role admin", "the first key must be an admin's: after it every request needs a key")
	logger := cfg.Logger(c)
	if fresh, err := serve.IsNew(ctx, cfg.Database, logger); err != nil {
		return err
	} else if fresh && !administers {
		return notFirst
	}
	db, err := serve.OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return err
	}
	knowledge, err := projections.Open(ctx, db, projections.Settings{Logger: logger})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	log := events.NewLog(db, knowledge, events.Options{Logger: logger})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx)), db.Close()) }()
	keyed, err := projections.NewKeys(db, log).Any(ctx)
	if err != nil {
		return err
	}
	if !keyed && !administers {
		return notFirst
	}
	if _, err := events.NewScrubbingWriter(log, true).Submit(ctx, domain.Submission{By: by, Command: command}); err != nil {
		return err
	}
	shown := GivenKey{api.IssuedKey{Prefix: prefix, Key: key, Tenant: by.Tenant, Subject: k.Subject, Role: k.Role, CreatedAt: time.Now().UTC()}}
	err = shown.show(c, shown)
	if !keyed {
		closed(c)
	}
	return err
}

// GivenKey is a key as the commands show it.
type GivenKey struct{ api.IssuedKey }

// print shows a key that was just made: the key itself on standard output, so that a script can keep it.
func (k GivenKey) print(c *terminal.Console) {
	c.Say("%s", k.Key)
	if c.End(nil) != nil {
		return // which [givenKey.show] tells of
	}
	if domain.Role(k.Role) == domain.Root {
		c.Note("a key for %s, root of every tenant; it is not shown again", terminal.Printable(k.Subject))
		c.Note("it is kept in tenant %s: erasing that revokes it", terminal.Printable(k.Tenant))
	} else {
		c.Note("a key for %s, %s in tenant %s; it is not shown again", terminal.Printable(k.Subject), k.Role, terminal.Printable(k.Tenant))
	}
	switch {
	case k.ReplacedUntil == nil:
	case time.Now().Before(*k.ReplacedUntil):
		c.Note("the old key %s is valid until %s", terminal.Printable(k.Replaces), terminal.Moment(*k.ReplacedUntil))
	default:
		c.Note("the old key %s ended at %s", terminal.Printable(k.Replaces), terminal.Moment(*k.ReplacedUntil))
	}
	c.Note("use it with: export ANNALS_KEY=…, or send it as Authorization: Bearer …")
}

// showKey sends a request that makes a key, and shows it.
func showKey(ctx context.Context, c *terminal.Console, r terminal.Remote, q client.Request) error {
	server, err := r.Connect()
	if err != nil {
		return err
	}
	var made GivenKey
	a, err := server.Do(ctx, q, &made)
	if err != nil {
		return err
	}
	return made.show(c, a.Body)
}

type keyListCommand struct {
	terminal.Remote
	terminal.Tabular
}

// Run implements the command.
func (k *keyListCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := k.Connect()
	if err != nil {
		return err
	}
	keys, a, err := KeysOf(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Document(a.Body)
	}
	if len(keys) == 0 {
		k.Empty(c, "no keys yet: the server asks nobody for one")
		return nil
	}
	rows := &terminal.Grid{Heads: []string{"PREFIX", "WHO", "ROLE", "LAST USED", "STATE"}, Spare: []string{"LAST USED"}}
	for _, key := range keys {
		used := "never"
		if key.UsedAt != nil {
			used = terminal.Moment(*key.UsedAt)
		}
		rows.Row(key.Prefix, terminal.Printable(terminal.Joined(" in ", key.Subject, strings.Join(key.Memberships, ", "))), key.Role, used, key.state())
	}
	return k.Show(c, rows)
}

// KeysOf are the keys of the tenant, as the server lists them.
func KeysOf(ctx context.Context, server *client.Client) ([]GivenKey, *client.Response, error) {
	var list api.Page[GivenKey]
	a, err := server.Do(ctx, client.Request{Method: http.MethodGet, Path: []string{"v1", "keys"}}, &list)
	return list.Items, a, err
}

func (k GivenKey) state() string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + terminal.Moment(*k.RevokedAt)
	case k.ExpiresAt != nil && !time.Now().Before(*k.ExpiresAt):
		return "expired " + terminal.Moment(*k.ExpiresAt)
	}
	said := "opens"
	if k.ExpiresAt != nil {
		said += " until " + terminal.Moment(*k.ExpiresAt)
	}
	if k.ReplacedBy != "" {
		said += ", replaced by " + k.ReplacedBy
	}
	if k.ActsFor {
		said += ", acts for others"
	}
	return said
}

type keyRotateCommand struct {
	terminal.Remote

	Prefix  string        `complete:"keys" arg:""`
	Overlap time.Duration `least:"0s" default:"24h"`
}

// Run implements the command.
func (k *keyRotateCommand) Run(ctx context.Context, c *terminal.Console) error {
	if err := c.WillBeRead("the key"); err != nil {
		return err
	}
	return showKey(ctx, c, k.Remote, client.Request{
		Method: http.MethodPost, Path: []string{"v1", "keys", k.Prefix, "rotate"},
		Body: api.KeyRotation{Overlap: new(int64(k.Overlap / time.Second))},
	})
}

type keyRevokeCommand struct {
	terminal.Remote

	Prefix string `complete:"keys" arg:""`
	Reason string `placeholder:"TEXT"`
}

// Run implements the command.
func (k *keyRevokeCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := k.Connect()
	if err != nil {
		return err
	}
	before, _, err := KeysOf(ctx, server) // afterwards this key may open nothing
	if err != nil {
		return err
	}
	var revoked GivenKey
	a, err := server.Do(ctx, client.Request{
		Method: http.MethodDelete, Path: []string{"v1", "keys", k.Prefix}, Body: api.Reason{Reason: k.Reason},
	}, &revoked)
	if err != nil {
		return err
	}
	if a.Header.Get("Annals-Outcome") != domain.Unchanged {
		k.warn(c, revoked, before)
	}
	if c.JSON {
		return c.Document(json.RawMessage(a.Body))
	}
	if a.Header.Get("Annals-Outcome") == domain.Unchanged {
		c.Say("nothing to change: the key %s was revoked already, %s", terminal.Printable(k.Prefix), terminal.MomentOf(revoked.RevokedAt))
	} else {
		c.Say("the key %s opens nothing any more", terminal.Printable(k.Prefix))
	}
	if next := terminal.Printable(revoked.ReplacedBy); next != "" {
		c.Note("it was replaced by %s: if that is lost, too, annals key revoke %s", next, next)
	}
	return nil
}

// warn says whom the revocation shuts out.
func (k *keyRevokeCommand) warn(c *terminal.Console, revoked GivenKey, before []GivenKey) {
	if annalshttp.PrefixOf(k.APIKey) == revoked.Prefix {
		c.Note("it is the key that this was asked with: from now on use another")
	}
	left := slices.ContainsFunc(before, func(other GivenKey) bool {
		return other.Prefix != revoked.Prefix && other.administers() && other.opens()
	})
	if revoked.administers() && !left {
		tenant := terminal.Printable(revoked.Tenant)
		c.Note("no key of an admin is left in tenant %s: root gives another, or annals key create user:YOU --role admin --tenant %s --offline", tenant, tenant)
	}
}

func (k GivenKey) administers() bool {
	return domain.Principal{Role: domain.Role(k.Role)}.Administers()
}

func (k GivenKey) opens() bool {
	return domain.Key{RevokedAt: terminal.OrZero(k.RevokedAt), ExpiresAt: terminal.OrZero(k.ExpiresAt)}.CheckValid(time.Now()) == nil
}
