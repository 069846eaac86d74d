package projections_test

import (
	"github.com/annals-kb/annals/domain"
)

// scopes of every tier; everybody in these tests is one of them.
var scopes = []domain.Scope{
	"user:alice", "user:bob", "project:456", "project:789", "agent:bot", "team:pay", "team:web", "org:acme", domain.Public,
}
