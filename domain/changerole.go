package domain

import "time"

// ChangeRole asks to let a key allow more, or less, from now on.
type ChangeRole struct {
	By     Principal
	Prefix string
	Role   Role
}

// Stream implements [Command].
func (c ChangeRole) Stream() string { return KeyStream(c.Prefix) }

// Reads implements [Command].
func (c ChangeRole) Reads() Reads { return Reads{} }

// Validate names every bad field at once. The error matches [ErrForbidden] if the caller is not root.
func (c ChangeRole) Validate() error {
	if c.By.Role != Root {
		return Refuse(ErrForbidden, "roles are changed by root")
	}
	var p Problems
	oneOf(&p, "role", c.Role, Roles, true)
	return p.Err()
}

// Decide implements [Command].
func (c ChangeRole) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := managedKey(dc, c.By, c.Prefix)
	if err != nil || k.Role == c.Role {
		return nil, err
	}
	if c.By.Role != Root {
		return nil, Refuse(ErrForbidden, "roles are changed by root")
	}
	return []Fact{KeyRoleChanged{Role: c.Role}}, nil
}

// Lowered is what is left of a role that is to become another, and never more than it was. Between a service and an
// auditor neither is less: what is left is a member.
func (r Role) Lowered(to Role) Role {
	reach := map[Role]int{Service: 1, Auditor: 1, Admin: 2, Root: 3}
	switch {
	case to == r || reach[to] < reach[r]:
		return to
	case reach[to] > reach[r]:
		return r
	}
	return Member
}

var _ Command = ChangeRole{}
