package domain

// ErasureOrdered began to erase many things.
type ErasureOrdered struct {
	Of          string
	WithLineage bool
	Role        Role
	ReasonCode  string
	LegalBasis  string
	RequestedBy string
	Ticket      string
}

// ErasureCompleted says that nothing was left to erase, but for what was refused.
type ErasureCompleted struct {
	Erased    int64     // streams
	NotErased int64     // streams that were refused
	Refused   []Refused // the first of those
}

// TenantErased says that everything that was written in a tenant was erased.
type TenantErased struct{}

// Name implements [Fact].
func (ErasureOrdered) Name() string   { return "erasure.ordered" }
func (ErasureCompleted) Name() string { return "erasure.completed" }
func (TenantErased) Name() string     { return "tenant.erased" }
