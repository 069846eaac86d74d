package domain

// ErasureOrdered began to erase many things.
type ErasureOrdered struct {
	Of          string `data:"of"`
	WithLineage bool   `data:"with_lineage,omitempty"`
	Role        Role   `data:"role"`
	ReasonCode  string `data:"reason_code"`
	LegalBasis  string `data:"legal_basis,omitempty"`
	RequestedBy string `data:"requested_by,omitempty"`
	Ticket      string `data:"ticket,omitempty"`
}

// ErasureCompleted says that nothing was left to erase, but for what was refused.
type ErasureCompleted struct {
	Erased    int64     `data:"erased"`               // streams
	NotErased int64     `data:"not_erased,omitempty"` // streams that were refused
	Refused   []Refused `data:"refused,omitempty"`    // the first of those
}

// TenantErased says that everything that was written in a tenant was erased.
type TenantErased struct{}

// Name implements [Fact].
func (ErasureOrdered) Name() string   { return "erasure.ordered" }
func (ErasureCompleted) Name() string { return "erasure.completed" }
func (TenantErased) Name() string     { return "tenant.erased" }
