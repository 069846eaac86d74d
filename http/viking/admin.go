package viking

import (
	"context"
	"errors"
	"time"

	"github.com/annals-kb/annals/domain"
)

// accounts administers accounts, which are tenants, and their users.
type accounts struct {
	keys    Keyring
	members Members
	newKey  func() (prefix, key, hash string)
	editor  editor
	eraser  Eraser
}

// adminRoutes registers the routes that administer accounts, which are tenants, and their users, who are the holders
// of valid keys.
func (s accounts) routes(on route) {
	const accounts = "/api/v1/admin/accounts"
	on("GET "+accounts, s.listAccounts)
	on("POST "+accounts, s.createAccount)
	on("DELETE "+accounts+"/{account}", s.removeAccount)
	on("GET "+accounts+"/{account}/users", s.listUsers)
	on("POST "+accounts+"/{account}/users", s.registerUser)
	on("DELETE "+accounts+"/{account}/users/{user}", s.removeUser)
	on("PUT "+accounts+"/{account}/users/{user}/role", s.changeRole)
	on("POST "+accounts+"/{account}/users/{user}/key", s.regenerateKey)
}

// requireAdmin refuses callers who are not admins. A user whom root names in headers has no effect here: root still
// administers.
func requireAdmin(q *query) (domain.Principal, error) {
	by := q.caller.Principal
	switch {
	case by.Authentication == domain.OpenAuthentication:
		return by, domain.Refuse(domain.ErrForbidden, "accounts are administered where keys are asked for").
			WithFix("start the server with a root key")
	case !by.Administers(), q.request.Header.Get("Annals-On-Behalf-Of") != "", by.Role != domain.Root &&
		by.OnBehalfOf != "":
		return by, domain.Refuse(domain.ErrForbidden, "accounts are for admins, in person")
	}
	by.OnBehalfOf = ""
	return by, nil
}

// root refuses callers who are not root.
func root(q *query) (domain.Principal, error) {
	by, err := requireAdmin(q)
	if err == nil && by.Role != domain.Root {
		err = domain.Refuse(domain.ErrForbidden, "this is for root")
	}
	return by, err
}

// inAccount is the caller as an admin of the account that the path names. For admins of other accounts, it answers as
// if the account did not exist.
func (s accounts) inAccount(
	ctx context.Context, q *query, admit func(*query) (domain.Principal, error),
) (domain.Principal, error) {
	by, err := admit(q)
	if err != nil {
		return by, err
	}
	account := q.request.PathValue("account")
	if by.Role != domain.Root && by.Tenant != account {
		return by, domain.Refuse(domain.ErrForbidden, "the key is valid for another account only")
	}
	exists, err := s.keys.HasTenant(ctx, account)
	if err == nil && !exists {
		err = domain.Refuse(domain.ErrNotFound, "no such account")
	}
	by.Tenant = account
	return by, err
}

// submissionBy is an administrator's command for the log of the administered tenant.
func (q *query) submissionBy(by domain.Principal, command domain.Command) domain.Submission {
	return domain.Submission{Command: command, By: by, Origin: q.caller.origin}
}

// account is a tenant as root sees it.
type account struct {
	ID      string     `json:"account_id"`
	Created *time.Time `json:"created_at"` // nil for the default tenant
	Users   int        `json:"user_count"`
}

func (s accounts) listAccounts(ctx context.Context, q *query) (any, error) {
	if _, err := root(q); err != nil {
		return nil, err
	}
	tenants, err := s.keys.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	issued, listed, err := s.keys.Everywhere(ctx)
	if err != nil {
		return nil, err
	}
	list := []account{}
	for _, t := range tenants {
		if !t.ErasedAt.IsZero() {
			continue
		}
		a := account{ID: t.Name, Users: len(s.usersAmong(issued[t.Name], listed[t.Name]))}
		if !t.CreatedAt.IsZero() {
			a.Created = new(t.CreatedAt.UTC())
		}
		list = append(list, a)
	}
	return list, nil
}

// createAccount creates a tenant and issues a key to its admin. These are writes to two logs. If the second one
// fails, root registers an admin in the account, which then exists.
func (s accounts) createAccount(ctx context.Context, q *query) (any, error) {
	by, err := root(q)
	if err != nil {
		return nil, err
	}
	var in struct {
		Account string `json:"account_id"`
		Admin   string `json:"admin_user_id"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	system, inside := by, by
	system.Tenant, inside.Tenant = domain.SystemTenant, in.Account
	create := domain.CreateTenant{By: system, Name: in.Account}
	bad := validate(create)
	if bad != nil && !errors.As(bad, new(*domain.Invalid)) {
		return nil, bad
	} else if bad != nil {
		q.found.Add("account_id", "must be 1 to 63 of a-z 0-9 - and begin and end with a letter or digit")
	}
	q.checkUserID("admin_user_id", in.Admin)
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	_, err = s.editor.writer.Submit(ctx, q.submissionBy(system, create))
	if errors.Is(err, domain.ErrConflict) {
		err = domain.Refuse(domain.ErrTaken, "the account %s exists", in.Account)
	}
	if err != nil {
		return nil, err
	}
	if err := s.enlist(ctx, q, inside, in.Admin); err != nil {
		return nil, err
	}
	key, _, err := s.issueKey(ctx, q, inside, userKey(in.Admin, domain.Admin))
	return map[string]string{"account_id": in.Account, "admin_user_id": in.Admin, "user_key": key}, err
}

// removeAccount revokes all keys of an account and orders the erasure of everything in it. The erasure runs in the
// background; the account is listed until it is complete.
func (s accounts) removeAccount(ctx context.Context, q *query) (any, error) {
	by, err := s.inAccount(ctx, q, root)
	if err != nil {
		return nil, err
	}
	if by.Tenant == domain.DefaultTenant {
		return nil, domain.Refuse(domain.ErrPrecondition, "the account %s is always there", by.Tenant).
			WithFix("erase what is in it")
	}
	order, err := domain.OrderErasure{By: by, ID: newID(), Of: domain.TenantStreams.Of(by.Tenant)}.Complete()
	if err != nil {
		return nil, err
	}
	if _, err := s.editor.writer.Submit(ctx, q.submissionBy(by, order)); err != nil {
		return nil, err
	}
	s.eraser.Begin()
	users, err := s.usersOf(ctx, by.Tenant)
	for _, u := range users {
		if err == nil {
			err = s.forEachKey(ctx, q, by, u, func(prefix string) domain.Command {
				return domain.RevokeKey{By: by, Prefix: prefix, Reason: "the account was removed"}
			})
		}
	}
	return map[string]bool{"deleted": true}, err
}
