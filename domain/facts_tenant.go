package domain

// TenantCreated began a tenant: one organisation's world.
type TenantCreated struct{}

// Name implements [Fact].
func (TenantCreated) Name() string { return "tenant.created" }
