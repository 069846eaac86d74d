package projections_test

import (
	"github.com/annals-kb/annals/domain"
)

// as is a member with these memberships.
func as(subject domain.Entity, memberships ...domain.Entity) domain.Principal {
	return domain.Principal{Tenant: domain.DefaultTenant, Subject: subject, Memberships: memberships, Role: domain.Member}
}
