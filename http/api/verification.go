package api

import "time"

// NewPolicy says how often the items of a scope and a type are verified, and by whom, and what needs approval there.
type NewPolicy struct {
	EveryDays int    `json:"every_days,omitempty" minimum:"1" maximum:"3650" example:"90" doc:"May be left out with approve: then how often, and by whom, stays."`
	Verifier  string `json:"verifier,omitempty" example:"user:mia" doc:"A user, an agent or a group of the directory that reads the scope. Default: none."`

	Approve *[]string `json:"approve,omitempty" enum:"person,personal_agent,agent,import,outside" doc:"What these classes write there is proposed: its author and the stewards see it, until one of them accepts it. Empty for none. If left out, it stays."`
}

// Acceptance says how a proposed item is accepted.
type Acceptance struct {
	Task     *string `json:"task,omitempty" maxLength:"2000" doc:"What it says instead, as with content and abstract. Default: what was proposed."`
	Content  *string `json:"content,omitempty" minLength:"1" doc:"At most 64 KiB."`
	Abstract *string `json:"abstract,omitempty" maxLength:"4000"`
	Reason   string  `json:"reason,omitempty" maxLength:"2000"`
}

// VerificationPolicy is how often the items of a scope and a type are verified, and by whom.
type VerificationPolicy struct {
	Scope     string     `json:"scope" example:"team:pay" doc:"A scope, or all."`
	Type      string     `json:"type,omitempty" doc:"Missing for all."`
	EveryDays int        `json:"every_days,omitempty" doc:"Missing if they are not verified."`
	Verifier  string     `json:"verifier,omitempty"`
	Approve   []string   `json:"approve,omitempty" doc:"What these classes write there is proposed."`
	SetAt     *time.Time `json:"set_at,omitempty"`
}

// VerificationPolicies are all policies of a tenant.
type VerificationPolicies struct {
	Items []VerificationPolicy `json:"items" nullable:"false" doc:"In the order of their scopes and types."`
}

// Verified is who confirmed an item last, and until when that counts.
type Verified struct {
	By      string     `json:"by,omitempty" example:"user:mia" doc:"Who confirmed it last."`
	At      *time.Time `json:"at,omitempty" doc:"When."`
	Until   *time.Time `json:"until,omitempty" doc:"The end of that confirmation or, without one, the time by which its verification policy asks for the next."`
	Overdue bool       `json:"overdue,omitempty" doc:"That time has passed: its weight in searches is multiplied by 0.9."`
	Counts  bool       `json:"counts,omitempty" doc:"Its verifier confirmed it, and it was neither revised nor reported stale since: its weight in searches is multiplied by 1.1, up to its score."`
}
