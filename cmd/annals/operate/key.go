package operate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/projections/keys"
)

// KeyCommands are the commands about keys.
type KeyCommands struct {
	Create keyCreateCommand `cmd:""`
	List   keyListCommand   `cmd:""`
	Rotate keyRotateCommand `cmd:""`
	Revoke keyRevokeCommand `cmd:""`
}

type keyCreateCommand struct {
	terminal.Remote
	serve.Storage

	Subject       string   `arg:"" optional:""`
	From          string   `placeholder:"FILE" complete:"file"`
	Output        string   `placeholder:"FILE" complete:"file"`
	Role          string   `default:"member" enum:"member,service,auditor,admin,root" placeholder:"ROLE"`
	Member        []string `field:"memberships" placeholder:"ENTITY"`
	ActsFor       bool
	ActsForOnly   []string `field:"acts_for_only" placeholder:"ENTITY"`
	PublishPublic bool
	Expires       string `field:"expires_at" placeholder:"TIME"`
	Note          string `placeholder:"TEXT"`
	Offline       bool
}

func (k *keyCreateCommand) Run(ctx context.Context, c *terminal.Console) error {
	expires, err := terminal.WhenOf("expires", k.Expires, time.Now())
	if err != nil {
		return err
	}
	if k.From != "" {
		return k.many(ctx, c, expires)
	}
	if k.Subject == "" || k.Output != "" {
		return terminal.Wrong("as in annals key create user:mia", "say whose key it is; --output belongs to --from")
	}
	if err := c.WillBeRead("the key"); err != nil {
		return err
	}
	if k.Offline {
		return k.offline(ctx, c, expires)
	}
	server, err := k.Connect()
	if err != nil {
		return err
	}
	me, err := server.Whoami(ctx)
	first := err == nil && me.Authentication == domain.OpenAuthentication
	created, err := issueKey(ctx, c, k.Remote, k.request(k.Subject, expires))
	if first && created {
		noteFirstKey(c)
	}
	return err
}

func (k *keyCreateCommand) request(subject string, expires time.Time) client.Request {
	return client.Post(api.NewKey{
		Subject: subject, Role: k.Role, Memberships: k.Member, ActsFor: k.ActsFor, ActsForOnly: k.ActsForOnly,
		PublishPublic: k.PublishPublic, Note: k.Note, ExpiresAt: terminal.IfSet(expires),
	}, "v1", "keys")
}

// many issues a key for each active user and agent of a file of the directory. It writes them to one file that only
// its owner can read, also those issued before a failure.
func (k *keyCreateCommand) many(ctx context.Context, c *terminal.Console, expires time.Time) error {
	if k.Subject != "" || k.Output == "" || k.Offline {
		return terminal.Wrong("as in annals key create --from people.csv --output keys.csv",
			"--from names the subjects, --output the file for their keys, and a server issues them")
	}
	members, _, err := readDirectory(c, k.From)
	if err != nil {
		return err
	}
	server, err := k.Connect()
	if err != nil {
		return err
	}
	issued, failed := 0, error(nil)
	err = terminal.WriteFile(c, k.Output, func(buffer *bytes.Buffer, flush func() error) error {
		buffer.WriteString("subject,key\n")
		for _, m := range members {
			kind, made := domain.Entity(m.Member).Kind(), api.IssuedKey{}
			if !m.Active || kind != domain.User && kind != domain.Agent {
				continue
			}
			if _, failed = server.Do(ctx, k.request(m.Member, expires), &made); failed != nil {
				break
			}
			fmt.Fprintf(buffer, "%s,%s\n", m.Member, made.Key)
			if issued++; made.Warning != "" {
				c.Note("%s", made.Warning)
			}
		}
		return flush()
	})
	if err == nil {
		c.Note("%s in %s, which only you can read; no key is shown again", terminal.Several(issued, "key"), k.Output)
	}
	return errors.Join(failed, err)
}

// offline writes the key into the database.
func (k *keyCreateCommand) offline(ctx context.Context, c *terminal.Console, expires time.Time) (err error) {
	cfg := serve.Config{Storage: k.Opened(c)}
	by := domain.SystemPrincipal()
	by.Tenant = domain.DefaultTenant
	if k.Tenant != "" {
		by.Tenant = k.Tenant
	}
	prefix, key, hash := httpkeys.NewKey()
	created := domain.KeyCreated{
		Hash: hash, Subject: domain.Entity(k.Subject), Role: domain.Role(k.Role),
		ActsFor: k.ActsFor || len(k.ActsForOnly) > 0, PublishPublic: k.PublishPublic, ExpiresAt: expires, Note: k.Note,
	}
	for _, e := range k.Member {
		created.Memberships = append(created.Memberships, domain.Entity(e))
	}
	for _, e := range k.ActsForOnly {
		created.ActsForOnly = append(created.ActsForOnly, domain.Entity(e))
	}
	command := domain.CreateKey{By: by, Prefix: prefix, Key: created}
	if err := command.Validate(time.Now()); err != nil {
		return refusedKey(err)
	}
	administers := created.Role == domain.Admin || created.Role == domain.Root
	notFirst := terminal.Wrong("add --role admin", "the first key must be an admin's: after it every request needs a key")
	logger := cfg.Logger(c)
	if fresh, err := serve.DatabaseIsEmpty(ctx, cfg.Database, logger); err != nil {
		return err
	} else if fresh && !administers {
		return notFirst
	}
	db, log, _, err := serve.OpenLog(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx)), db.Close()) }()
	keyed, err := keys.NewKeys(db, log).Any(ctx)
	if err != nil {
		return err
	}
	if !keyed && !administers {
		return notFirst
	}
	submission := domain.Submission{By: by, Command: command}
	if _, err := events.NewScrubbingWriter(log, true).Submit(ctx, submission); err != nil {
		return err
	}
	issued := api.IssuedKey{
		Prefix: prefix, Key: key, Tenant: by.Tenant, Subject: k.Subject, Role: k.Role, CreatedAt: time.Now().UTC(),
	}
	err = showKey(c, issued, issued)
	if !keyed {
		noteFirstKey(c)
	}
	return err
}

// refusedKey names the invalid fields of a key.
func refusedKey(err error) error {
	f := &terminal.Failure{Code: terminal.ExitRefused, Detail: err.Error(), Fix: "annals key create --help shows how"}
	if invalid, is := errors.AsType[*domain.Invalid](err); is {
		f = terminal.BadFields(f.Fix)
		for _, p := range invalid.Problems {
			f.Fields = append(f.Fields, terminal.Field{Field: p.Field, Message: p.Message})
		}
	}
	return f
}

func noteFirstKey(c *terminal.Console) {
	c.Note("this was the first key: every caller needs a key from now on; until now, every program on this machine had " +
		"access")
}

// issueKey sends a request that issues a key, and shows the key. It returns whether a key was issued, even if its
// output failed.
func issueKey(ctx context.Context, c *terminal.Console, r terminal.Remote, q client.Request) (issued bool, err error) {
	server, err := r.Connect()
	if err != nil {
		return false, err
	}
	var key api.IssuedKey
	a, err := server.Do(ctx, q, &key)
	if err != nil {
		return false, err
	}
	return true, showKey(c, key, a.Body)
}

// showKey prints a new key to standard output, so that scripts can store it. If the output fails, the key is lost,
// and the failure tells how to revoke it.
func showKey(c *terminal.Console, k api.IssuedKey, document any) error {
	var err error
	if c.JSON {
		err = c.Document(document)
	} else {
		c.Say("%s", k.Key)
	}
	if err = errors.Join(err, c.End(nil)); err != nil {
		return &terminal.Failure{
			Code:   terminal.ExitFailed,
			Detail: fmt.Sprintf("the key %s was made and could not be written to standard output: it is lost", k.Prefix),
			Fix: fmt.Sprintf("revoke it with annals key revoke %s, and make another; "+
				"with no other key, annals key create user:YOU --role admin --offline makes one", k.Prefix),
		}
	}
	if c.JSON {
		return nil
	}
	if domain.Role(k.Role) == domain.Root {
		c.Note("a key for %s, root of every tenant; it is not shown again", k.Subject)
		c.Note("it is kept in tenant %s: erasing that revokes it", k.Tenant)
	} else {
		c.Note("a key for %s, %s in tenant %s; it is not shown again", k.Subject, k.Role, k.Tenant)
	}
	switch {
	case k.ReplacedUntil == nil:
	case time.Now().Before(*k.ReplacedUntil):
		c.Note("the old key %s is valid until %s", k.Replaces, k.ReplacedUntil)
	default:
		c.Note("the old key %s ended at %s", k.Replaces, k.ReplacedUntil)
	}
	if k.Warning != "" {
		c.Note("%s", k.Warning)
	}
	c.Note("use it with: export ANNALS_KEY=…, or send it as Authorization: Bearer …")
	return nil
}

type keyListCommand struct {
	terminal.Remote
	terminal.Tabular
}

func (k *keyListCommand) Run(ctx context.Context, c *terminal.Console) error {
	var list api.Keys
	return k.Answer(ctx, c, client.Get("v1", "keys"), &list, func() error {
		if len(list.Items) == 0 {
			k.Empty(c, "no keys yet: the server is in no-auth mode")
			return nil
		}
		rows := terminal.NewTable("PREFIX", "WHO", "ROLE", "LAST USED", "STATE")
		rows.Spare = []string{"LAST USED"}
		for _, key := range list.Items {
			used := "never"
			if key.UsedAt != nil {
				used = terminal.Text(key.UsedAt)
			}
			who := terminal.Joined(" in ", key.Subject, strings.Join(key.Memberships, ", "))
			rows.Row(key.Prefix, who, key.Role, used, stateOf(key))
		}
		return k.Show(c, rows)
	})
}

func stateOf(k api.IssuedKey) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked " + terminal.Text(k.RevokedAt)
	case k.State == domain.InvitationEnded:
		return "ended, invited by " + k.InvitedBy
	case k.ExpiresAt != nil && !time.Now().Before(*k.ExpiresAt):
		return "expired " + terminal.Text(k.ExpiresAt)
	}
	until, replaced, others := "", "", ""
	if k.ExpiresAt != nil {
		until = " until " + terminal.Text(k.ExpiresAt)
	}
	if k.ReplacedBy != "" {
		replaced = "replaced by " + k.ReplacedBy
	}
	if k.ActsFor {
		others = "acts for " + cmp.Or(strings.Join(k.ActsForOnly, ", "), "others")
	}
	valid := "valid"
	if k.InvitedBy != "" {
		valid = "invited by " + k.InvitedBy
	}
	return terminal.Joined(", ", valid+until, replaced, others)
}

type keyRotateCommand struct {
	terminal.Remote

	Prefix  string        `complete:"keys" arg:""`
	Overlap time.Duration `least:"0s" default:"24h"`
}

func (k *keyRotateCommand) Run(ctx context.Context, c *terminal.Console) error {
	if err := c.WillBeRead("the key"); err != nil {
		return err
	}
	rotation := api.KeyRotation{Overlap: new(int64(k.Overlap / time.Second))}
	_, err := issueKey(ctx, c, k.Remote, client.Post(rotation, "v1", "keys", k.Prefix, "rotate"))
	return err
}

type keyRevokeCommand struct {
	terminal.Remote

	Prefix string `complete:"keys" arg:""`
	Reason string `placeholder:"TEXT"`
}

func (k *keyRevokeCommand) Run(ctx context.Context, c *terminal.Console) error {
	server, err := k.Connect()
	if err != nil {
		return err
	}
	var before api.Keys // before the revocation, since the caller's own key may be revoked
	if _, err := server.Do(ctx, client.Get("v1", "keys"), &before); err != nil {
		return err
	}
	var revoked api.IssuedKey
	a, err := server.Do(ctx, client.Request{
		Method: http.MethodDelete, Path: []string{"v1", "keys", k.Prefix}, Body: api.Reason{Reason: k.Reason},
	}, &revoked)
	if err != nil {
		return err
	}
	unchanged := a.Header.Get("Annals-Outcome") == domain.Unchanged
	if !unchanged {
		k.warn(c, revoked, before.Items)
	}
	if c.JSON {
		return c.Document(json.RawMessage(a.Body))
	}
	if unchanged {
		c.Say("nothing to change: the key %s was revoked already, %s", k.Prefix, revoked.RevokedAt)
	} else {
		c.Say("the key %s is revoked", k.Prefix)
	}
	if next := revoked.ReplacedBy; next != "" {
		c.Note("it was replaced by %s: if that is lost, too, annals key revoke %s", next, next)
	}
	return nil
}

// warn tells who loses access by the revocation.
func (k *keyRevokeCommand) warn(c *terminal.Console, revoked api.IssuedKey, before []api.IssuedKey) {
	if httpkeys.PrefixOf(k.APIKey) == revoked.Prefix {
		c.Note("this command used the key that it revoked: from now on use another")
	}
	administers := func(key api.IssuedKey) bool {
		return domain.Principal{Role: domain.Role(key.Role)}.Administers()
	}
	left := slices.ContainsFunc(before, func(other api.IssuedKey) bool {
		key := domain.Key{RevokedAt: terminal.OrZero(other.RevokedAt), ExpiresAt: terminal.OrZero(other.ExpiresAt)}
		return other.Prefix != revoked.Prefix && other.InvitedBy == "" && administers(other) &&
			key.CheckValid(time.Now()) == nil
	})
	if administers(revoked) && !left {
		c.Note("no key of an admin is left in tenant %s: root issues another, or annals key create user:YOU --role admin "+
			"--tenant %s --offline",
			revoked.Tenant, revoked.Tenant)
	}
}
