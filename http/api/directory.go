package api

import "time"

// NewMember is what the directory keeps of a member besides its groups.
type NewMember struct {
	DisplayName *string `json:"display_name,omitempty" maxLength:"256" example:"Mia Chen" doc:"Unchanged if left out. It can be erased; the id cannot."`
}

// NewMembership is a member's part in a group.
type NewMembership struct {
	Role string `json:"role,omitempty" enum:"member,maintainer" doc:"A maintainer also adds and removes members. Default: member."`
}

// Membership is a group that a member belongs to.
type Membership struct {
	Group   string     `json:"group" example:"team:pay"`
	Role    string     `json:"role" enum:"member,maintainer"`
	Since   *time.Time `json:"since,omitempty"`
	Through string     `json:"through,omitempty" doc:"The group that belongs to it, and whose members therefore do."`
}

// Member is a user, an agent or a group in the directory.
type Member struct {
	Member        string        `json:"member" example:"user:mia"`
	DisplayName   string        `json:"display_name,omitempty"`
	UserName      string        `json:"user_name,omitempty" doc:"By which the identity provider calls it, if that is not the id."`
	Active        bool          `json:"active"`
	AddedAt       *time.Time    `json:"added_at,omitempty"`
	DeactivatedAt *time.Time    `json:"deactivated_at,omitempty"`
	Groups        []Membership  `json:"groups" nullable:"false" doc:"What it belongs to. In a list: directly."`
	Members       []GroupMember `json:"members,omitempty" doc:"Of a group that was asked for by its name: who belongs to it directly."`
	Owns          *int          `json:"owns,omitempty" doc:"In the answer to a deactivation: how many items it owns that are not forgotten. The act transfer gives them another owner. 100000 may mean more."`
	RevokedKeys   []string      `json:"revoked_keys,omitempty" doc:"In the answer to a deactivation: the prefixes of its keys, which are revoked."`
}

// GroupMember is a direct member of a group.
type GroupMember struct {
	Member      string     `json:"member" example:"user:mia"`
	DisplayName string     `json:"display_name,omitempty"`
	Active      bool       `json:"active"`
	Role        string     `json:"role" enum:"member,maintainer"`
	Since       *time.Time `json:"since,omitempty"`
}

// ScopeReader is one reason why a subject may read a scope.
type ScopeReader struct {
	Subject string     `json:"subject" example:"user:mia"`
	Reason  string     `json:"reason" enum:"self,directory,key,role,acts_for" doc:"directory: it belongs to the scope. key: its key says so. role: its key reads everything, or acts for any entity. acts_for: its key may act for those who read it. self: the scope is its own, or public."`
	Through []string   `json:"through,omitempty" doc:"With directory: its own group, and so on up to the scope."`
	Key     string     `json:"key,omitempty" doc:"The prefix of the key."`
	Role    string     `json:"role,omitempty" doc:"Of the key, or in its own group."`
	Since   *time.Time `json:"since,omitempty"`
}
