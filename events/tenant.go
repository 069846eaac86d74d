package events

import "github.com/annals-kb/annals/domain"

func splitTenantCreated(domain.TenantCreated) nothing { return nothing{} }
func joinTenantCreated(nothing) domain.TenantCreated  { return domain.TenantCreated{} }
