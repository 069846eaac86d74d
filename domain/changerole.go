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
func (c ChangeRole) Decide(book Book, _ time.Time) ([]Fact, error) {
	k, err := givenKey(book, c.By, c.Prefix)
	if err != nil || k.Role == c.Role {
		return nil, err
	}
	if c.By.Role != Root {
		return nil, Refuse(ErrForbidden, "roles are changed by root")
	}
	return []Fact{KeyRoleChanged{Role: c.Role}}, nil
}

var _ Command = ChangeRole{}
