package events

import (
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

type keyCreatedData struct {
	Hash          string          `json:"hash"`
	Subject       domain.Entity   `json:"subject"`
	Memberships   []domain.Entity `json:"memberships,omitempty"`
	Role          domain.Role     `json:"role"`
	ActsFor       bool            `json:"acts_for,omitempty"`
	PublishPublic bool            `json:"publish_public,omitempty"`
	ExpiresAt     database.Time   `json:"expires_at,omitzero"`
	Replaces      string          `json:"replaces,omitempty"`
}

type noteText struct {
	Note string `json:"note,omitempty"`
}

func splitKeyCreated(f domain.KeyCreated) (keyCreatedData, noteText) {
	return keyCreatedData{
		Hash: f.Hash, Subject: f.Subject, Memberships: f.Memberships, Role: f.Role, ActsFor: f.ActsFor,
		PublishPublic: f.PublishPublic, ExpiresAt: database.At(f.ExpiresAt), Replaces: f.Replaces,
	}, noteText{Note: f.Note}
}

func joinKeyCreated(d keyCreatedData, t noteText) domain.KeyCreated {
	return domain.KeyCreated{
		Hash: d.Hash, Subject: d.Subject, Memberships: d.Memberships, Role: d.Role, ActsFor: d.ActsFor,
		PublishPublic: d.PublishPublic, ExpiresAt: d.ExpiresAt.Time, Replaces: d.Replaces, Note: t.Note,
	}
}

type keyRotatedData struct {
	By    string        `json:"by"`
	Until database.Time `json:"until"`
}

func splitKeyRotated(f domain.KeyRotated) keyRotatedData {
	return keyRotatedData{By: f.By, Until: database.At(f.Until)}
}

func joinKeyRotated(d keyRotatedData) domain.KeyRotated {
	return domain.KeyRotated{By: d.By, Until: d.Until.Time}
}

type keyRoleData struct {
	Role domain.Role `json:"role"`
}

func splitKeyRole(f domain.KeyRoleChanged) keyRoleData { return keyRoleData(f) }
func joinKeyRole(d keyRoleData) domain.KeyRoleChanged  { return domain.KeyRoleChanged(d) }

func splitKeyRevoked(f domain.KeyRevoked) (nothing, reasonText) { return nothing{}, reasonText(f) }
func joinKeyRevoked(_ nothing, t reasonText) domain.KeyRevoked  { return domain.KeyRevoked(t) }
