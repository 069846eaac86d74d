package domain

import (
	"errors"
	"time"
)

// Tenant is the state of a tenant's stream, in the log of [SystemTenant].
type Tenant struct {
	CreatedAt time.Time `json:"created_at"`
	ErasedAt  time.Time `json:"erased_at,omitzero"` // all its texts were erased
}

// NamedTenant is a tenant for root.
type NamedTenant struct {
	Tenant
	Name string
}

// TenantStreams are the streams of tenants by name, in the log of [SystemTenant].
var TenantStreams = StreamKind{Name: "tenant", State: Tenant{}, Form: 2, Facts: []Fact{TenantCreated{}, TenantErased{}}}

var tenantName = expression(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (t Tenant) Evolve(fact Fact, at EventMetadata) (State, error) {
	if _, created := fact.(TenantCreated); created != (at.Version == 1) {
		return t, errors.New("the stream of a tenant begins with its creation, once")
	}
	switch fact.(type) {
	case TenantCreated:
		return Tenant{CreatedAt: at.RecordedAt}, nil
	case TenantErased:
		t.ErasedAt = at.RecordedAt
		return t, nil
	}
	return t, errors.New("not a fact about a tenant")
}

// CreateTenant asks for a tenant. [DefaultTenant] exists without it.
type CreateTenant struct {
	By   Principal
	Name string
}

// Validate names every bad field at once. The error matches [ErrForbidden] if the caller is not root in person.
func (c CreateTenant) Validate() error {
	if c.By.Role != Root || c.By.OnBehalfOf != "" {
		return notRoot(c.By, "tenants are for root")
	}
	var p Problems
	if !IsTenantName(c.Name) {
		p.Add("name", "must be 1 to 63 of a-z 0-9 - and begin and end with a letter or digit")
	}
	return p.Err()
}

func (c CreateTenant) Stream() string { return TenantStreams.Of(c.Name) }

func (c CreateTenant) Reads() Reads { return Reads{} }

func (c CreateTenant) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	switch {
	case !StateOf[Tenant](dc, c.Stream()).ErasedAt.IsZero():
		return nil, Refuse(ErrConflict, "the tenant %s was erased, and its name stays taken", c.Name).
			WithFix("choose another name")
	case c.Name == DefaultTenant, dc.Stream(c.Stream()).Exists():
		return nil, Refuse(ErrConflict, "the tenant %s exists", c.Name).
			WithFix("choose another name, or give a key to it: annals key create user:NAME --role admin --tenant %s", c.Name)
	}
	return []Fact{TenantCreated{}}, nil
}

// EndTenant asks to record that all texts of a tenant were erased. Its name stays taken.
type EndTenant struct{ Name string }

func (c EndTenant) Stream() string { return TenantStreams.Of(c.Name) }

func (c EndTenant) Reads() Reads { return Reads{} }

func (c EndTenant) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	if !dc.Stream(c.Stream()).Exists() || !StateOf[Tenant](dc, c.Stream()).ErasedAt.IsZero() {
		return nil, nil
	}
	return []Fact{TenantErased{}}, nil
}

var (
	_ State   = Tenant{}
	_ Command = CreateTenant{}
	_ Command = EndTenant{}
)

// IsTenantName tells whether a tenant can have a name.
func IsTenantName(name string) bool { return tenantName().MatchString(name) }
