package viking

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// member is a user with valid keys for an account, or in its directory.
type member struct {
	id   string
	keys []domain.IssuedKey // the one with the highest role first, then the newest
}

// role is the highest role of the user's keys, as OpenViking names it.
func (u member) role() string {
	if len(u.keys) == 0 {
		return roleOf(domain.Principal{})
	}
	return roleOf(domain.Principal{Role: u.keys[0].Role})
}

// roles are the roles that a user can have.
var roles = map[string]domain.Role{"user": domain.Member, "admin": domain.Admin}

func (q *query) parseRole(role string) domain.Role {
	parsed, known := roles[role]
	if !known {
		q.found.Add("role", "must be user or admin")
	}
	return parsed
}

func (q *query) checkUserID(field, id string) {
	if !headerID.MatchString(id) {
		q.found.Add(field, "must be 1 to 128 of A-Z a-z 0-9 . _ @ - and begin with a letter or digit")
	}
}

// usersOf lists the users of an account, by id.
func (s accounts) usersOf(ctx context.Context, tenant string) ([]member, error) {
	issued, err := s.keys.Issued(ctx, tenant)
	var all []domain.MemberEntry
	for after := domain.Entity(""); err == nil; {
		const page = 500
		var listed []domain.DirectoryMember
		listed, err = s.members(ctx, tenant, domain.User, after, page)
		for _, m := range listed {
			all, after = append(all, m.MemberEntry), m.Member
		}
		if len(listed) < page {
			break
		}
	}
	return s.usersAmong(issued, all), err
}

// enlist adds a user to the directory, or ends a deactivation.
func (s accounts) enlist(ctx context.Context, q *query, by domain.Principal, id string) error {
	of := domain.OfDirectory{By: by, Member: domain.Entity(domain.User + ":" + id)}
	return s.editor.submitAll(ctx, []domain.Submission{
		q.submissionBy(by, domain.PutMember{OfDirectory: of}),
		q.submissionBy(by, domain.DeactivateMember{OfDirectory: of, Again: true}),
	})
}

// usersAmong are the users of these keys and the active ones of these entries, by id.
func (s accounts) usersAmong(issued []domain.IssuedKey, listed []domain.MemberEntry) []member {
	now := time.Now()
	issued = slices.DeleteFunc(issued, func(k domain.IssuedKey) bool {
		return k.Subject.Kind() != domain.User ||
			k.CheckValid(now) != nil
	})
	slices.SortStableFunc(issued, func(a, b domain.IssuedKey) int {
		return cmp.Or(strings.Compare(a.Subject.ID(), b.Subject.ID()),
			slices.Index(domain.Roles, b.Role)-slices.Index(domain.Roles, a.Role), b.CreatedAt.Compare(a.CreatedAt))
	})
	var users []member
	for _, k := range issued {
		if id := k.Subject.ID(); len(users) == 0 || users[len(users)-1].id != id {
			users = append(users, member{id: id})
		}
		last := &users[len(users)-1]
		last.keys = append(last.keys, k)
	}
	for _, m := range listed {
		at, found := slices.BinarySearchFunc(users, m.Member.ID(), func(u member, id string) int {
			return strings.Compare(u.id, id)
		})
		if !found && m.Active() {
			users = slices.Insert(users, at, member{id: m.Member.ID()})
		}
	}
	return users
}

// userNamed finds the user in the path, and the administrator.
func (s accounts) userNamed(
	ctx context.Context, q *query, admit func(*query) (domain.Principal, error),
) (domain.Principal, member, error) {
	by, err := s.inAccount(ctx, q, admit)
	if err != nil {
		return by, member{}, err
	}
	users, err := s.usersOf(ctx, by.Tenant)
	if err != nil {
		return by, member{}, err
	}
	for _, u := range users {
		if u.id == q.request.PathValue("user") {
			return by, u, nil
		}
	}
	return by, member{}, domain.Refuse(domain.ErrNotFound, "no such user in the account")
}

// userKey is a key for a user, who may also write for the whole account.
func userKey(id string, role domain.Role) domain.KeyCreated {
	return domain.KeyCreated{Subject: domain.Entity(domain.User + ":" + id), Role: role, PublishPublic: true}
}

// issueKey issues a key and returns it with its name. The server does not store the key.
func (s accounts) issueKey(
	ctx context.Context, q *query, by domain.Principal, created domain.KeyCreated,
) (key, prefix string, err error) {
	prefix, key, hash := s.newKey()
	created.Hash = hash
	command := domain.CreateKey{By: by, Prefix: prefix, Key: created}
	if err := command.Validate(time.Now()); err != nil {
		return "", "", err
	}
	_, err = s.editor.writer.Submit(ctx, q.submissionBy(by, command))
	return key, prefix, err
}

// shownUser is a user in lists.
type shownUser struct {
	ID   string `json:"user_id"`
	Role string `json:"role"`
}

func (s accounts) listUsers(ctx context.Context, q *query) (any, error) {
	const usual = 100
	limit, name, role := max(q.intParam("limit", usual), 0), q.param("name"), q.param("role")
	by, err := s.inAccount(ctx, q, requireAdmin)
	if err == nil {
		err = q.found.Err()
	}
	if err != nil {
		return nil, err
	}
	users, err := s.usersOf(ctx, by.Tenant)
	list := []shownUser{}
	for _, u := range users {
		if len(list) < limit && strings.Contains(u.id, name) && (role == "" || role == u.role()) {
			list = append(list, shownUser{ID: u.id, Role: u.role()})
		}
	}
	return list, err
}

func (s accounts) registerUser(ctx context.Context, q *query) (any, error) {
	by, err := s.inAccount(ctx, q, requireAdmin)
	if err != nil {
		return nil, err
	}
	in := struct {
		User string `json:"user_id"`
		Role string `json:"role"`
	}{Role: "user"}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	role := q.parseRole(in.Role)
	q.checkUserID("user_id", in.User)
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	users, err := s.usersOf(ctx, by.Tenant)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(users, func(u member) bool { return u.id == in.User && len(u.keys) > 0 }) {
		return nil, registered(in.User)
	}
	if err := s.enlist(ctx, q, by, in.User); err != nil {
		return nil, err
	}
	key, prefix, err := s.issueKey(ctx, q, by, userKey(in.User, role))
	if err == nil {
		err = s.keepOldestKey(ctx, q, by, in.User, prefix)
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"account_id": by.Tenant, "user_id": in.User, "user_key": key}, nil
}

// keepOldestKey lets one of two concurrent registrations of a user succeed: the request that finds an older key
// revokes its own.
func (s accounts) keepOldestKey(ctx context.Context, q *query, by domain.Principal, user, prefix string) error {
	users, err := s.usersOf(ctx, by.Tenant)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(users, func(u member) bool { return u.id == user })
	if at < 0 {
		return nil
	}
	oldest := slices.MinFunc(users[at].keys, func(a, b domain.IssuedKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.Prefix, b.Prefix))
	})
	if oldest.Prefix == prefix {
		return nil
	}
	if _, err := s.editor.writer.Submit(
		ctx, q.submissionBy(by, domain.RevokeKey{By: by, Prefix: prefix, Reason: "the user was registered at the same time"}),
	); err != nil {
		return err
	}
	return registered(user)
}

func registered(user string) error {
	return domain.Refuse(domain.ErrTaken, "the user %s has a key", user).WithFix("regenerate it if it was lost")
}

// removeUser revokes all keys of a user and deactivates the user in the directory. The user's items stay.
func (s accounts) removeUser(ctx context.Context, q *query) (any, error) {
	by, u, err := s.userNamed(ctx, q, requireAdmin)
	if err == nil {
		err = s.forEachKey(ctx, q, by, u, func(prefix string) domain.Command {
			return domain.RevokeKey{By: by, Prefix: prefix, Reason: "the user was removed"}
		})
	}
	if err == nil {
		of := domain.OfDirectory{By: by, Member: domain.Entity(domain.User + ":" + u.id)}
		_, err = s.editor.writer.Submit(ctx, q.submissionBy(by, domain.DeactivateMember{
			OfDirectory: of, Reason: "the user was removed",
		}))
		if errors.Is(err, domain.ErrNotFound) { // a user with keys who was never added
			err = nil
		}
	}
	return map[string]bool{"deleted": true}, err
}

// changeRole changes the role of all keys of a user.
func (s accounts) changeRole(ctx context.Context, q *query) (any, error) {
	by, u, err := s.userNamed(ctx, q, root)
	if err != nil {
		return nil, err
	}
	var in struct {
		Role string `json:"role"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	role := q.parseRole(in.Role)
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	if len(u.keys) == 0 {
		return nil, domain.Refuse(domain.ErrPrecondition, "the user has no key, whose role it would be").
			WithFix("regenerate the key first")
	}
	err = s.forEachKey(ctx, q, by, u, func(prefix string) domain.Command {
		return domain.ChangeRole{By: by, Prefix: prefix, Role: role}
	})
	return map[string]string{"account_id": by.Tenant, "user_id": u.id, "role": in.Role}, err
}

// regenerateKey issues a new key with the same rights and then revokes the old ones, so that the user is never
// without a key.
func (s accounts) regenerateKey(ctx context.Context, q *query) (any, error) {
	by, u, err := s.userNamed(ctx, q, requireAdmin)
	if err != nil {
		return nil, err
	}
	if len(u.keys) == 0 {
		key, _, err := s.issueKey(ctx, q, by, userKey(u.id, domain.Member))
		return map[string]string{"user_key": key}, err
	}
	old := u.keys[0]
	key, _, err := s.issueKey(ctx, q, by, domain.KeyCreated{
		Subject: old.Subject, Memberships: old.Memberships, Role: old.Role, ActsFor: old.ActsFor,
		ActsForOnly: old.ActsForOnly, PublishPublic: old.PublishPublic, ExpiresAt: old.ExpiresAt,
	})
	if err == nil {
		err = s.forEachKey(ctx, q, by, u, func(prefix string) domain.Command {
			return domain.RevokeKey{By: by, Prefix: prefix, Reason: "the key was regenerated"}
		})
	}
	return map[string]string{"user_key": key}, err
}

// forEachKey submits a command for every key of a user, and returns the first refusal. A refusal does not affect the
// others.
func (s accounts) forEachKey(
	ctx context.Context, q *query, by domain.Principal, u member, command func(prefix string) domain.Command,
) error {
	submissions := make([]domain.Submission, len(u.keys))
	for i, k := range u.keys {
		submissions[i] = q.submissionBy(by, command(k.Prefix))
	}
	return s.editor.submitAll(ctx, submissions)
}

// roleOf is OpenViking's name of a principal's role; there are three.
func roleOf(p domain.Principal) string {
	switch p.Role {
	case domain.Root:
		return "root"
	case domain.Admin:
		return "admin"
	}
	return "user"
}
