package domain

// TenantCreated began a tenant: one organisation's world.
type TenantCreated struct{}

// Name implements [Fact].
func (TenantCreated) Name() string { return "tenant.created" }

// ScrubbingChanged gave a tenant other rules for scrubbing: Rules are all of them.
type ScrubbingChanged struct{ Rules Scrubbing }

// Name implements [Fact].
func (ScrubbingChanged) Name() string { return "tenant.scrubbing_changed" }
