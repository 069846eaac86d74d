package api

import (
	"time"
)

// HoldReason is why an item is held, or released.
type HoldReason struct {
	ReasonCode string `json:"reason_code" example:"litigation" doc:"A word; it stays for ever."`
	Ticket     string `json:"ticket,omitempty" example:"LEGAL-7" doc:"Of the case; it stays for ever."`
}

// LineageEntry is an item that another one was made from, or that was made from it.
type LineageEntry struct {
	ID       string `json:"id,omitempty" doc:"Of an item."`
	Stream   string `json:"stream" doc:"What it is, if no item."`
	Relation string `json:"relation" enum:"derived_from,derives,superseded_by,supersedes" doc:"What it is to what of names: derived_from is made from that, derives is what that was made from, supersedes took its place."`
	Of       string `json:"of" doc:"The item through which it is related."`
	Owner    string `json:"owner,omitempty"`
	Status   string `json:"status,omitempty" enum:"active,superseded,deleted,erased,quarantined,proposed"`
}

// Lineage are the items that an item was made from, and those that were made from it.
type Lineage struct {
	Items []LineageEntry `json:"items" nullable:"false"`
}

// PurgeResult is the result of a rewrite of the database files.
type PurgeResult struct {
	BeganAt  time.Time `json:"began_at"`
	EndedAt  time.Time `json:"ended_at"`
	Complete bool      `json:"complete"`
	Notes    []string  `json:"notes" nullable:"false"`
	ForOwner string    `json:"for_owner,omitempty" doc:"The command by which the owner of the tables, or of the database, rewrites what the server may not."`
}

// Erasures says what was erased, and whether the database files still contain it.
type Erasures struct {
	Erasures  int64        `json:"erasures" doc:"Items of the tenant that were erased."`
	Texts     int64        `json:"texts" doc:"Texts that were destroyed with them."`
	Unpurged  int64        `json:"unpurged" doc:"Texts whose bytes the files may still hold: of the tenant; for operators, of every tenant."`
	Oldest    *time.Time   `json:"oldest,omitempty" doc:"When the first of those was erased."`
	PurgeBy   *time.Time   `json:"purge_by,omitempty" doc:"When the server will have rewritten the files by itself; missing if they hold nothing, or if it does not do that."`
	ForOwner  string       `json:"for_owner,omitempty" doc:"The command by which the owner of the tables, or of the database, rewrites what the server may not."`
	LastPurge *PurgeResult `json:"last_purge,omitempty"`
	Kept      []string     `json:"kept" nullable:"false" doc:"What else holds deleted bytes after a purge, and for how long, as far as the database knows: nothing about backups."`
}

// ErasureOrder says what to erase, and why. All of it stays for ever.
type ErasureOrder struct {
	Of          string `json:"of" example:"user:123" doc:"An entity: all that is its own, or meant for it alone; the stream of a session, such as session:123/planning: what was said in it, and its archives; tenant:NAME, for root: everything; or the id of an item."`
	WithLineage bool   `json:"with_lineage,omitempty" doc:"Items that those were made from or into, too, and what took their place."`
	KeepShared  bool   `json:"keep_shared,omitempty" doc:"Items of a user or an agent that are meant for a group pass to it, and stay."`
	KeepAccess  bool   `json:"keep_access,omitempty" doc:"A user or an agent keeps its keys and its groups. By default both end."`
	ReasonCode  string `json:"reason_code,omitempty" example:"gdpr-17" doc:"A word. Default: requested."`
	LegalBasis  string `json:"legal_basis,omitempty"`
	RequestedBy string `json:"requested_by,omitempty" doc:"A pseudonym."`
	Ticket      string `json:"ticket,omitempty" example:"DSR-12"`
}

// NotErased is something that an order could not erase.
type NotErased struct {
	ID     string `json:"id,omitempty" doc:"Of an item."`
	Stream string `json:"stream"`
	Reason string `json:"reason"`
}

// Erasure is an order and its progress.
type Erasure struct {
	ID          string      `json:"id"`
	Of          string      `json:"of"`
	WithLineage bool        `json:"with_lineage,omitempty"`
	KeepShared  bool        `json:"keep_shared,omitempty"`
	KeepAccess  bool        `json:"keep_access,omitempty"`
	State       string      `json:"state" enum:"under_way,completed"`
	Erased      int64       `json:"erased" doc:"Items, sessions and other things."`
	Left        int64       `json:"left" doc:"While it is under way, as far as this server knows."`
	Passed      int64       `json:"passed,omitempty" doc:"Items that passed to groups."`
	Revoked     int64       `json:"revoked,omitempty" doc:"Keys."`
	NotErased   int64       `json:"not_erased,omitempty" doc:"That were refused, for a legal hold or another's sake."`
	Refused     []NotErased `json:"refused,omitempty" doc:"The first of those."`
	ReasonCode  string      `json:"reason_code"`
	LegalBasis  string      `json:"legal_basis,omitempty"`
	RequestedBy string      `json:"requested_by,omitempty"`
	Ticket      string      `json:"ticket,omitempty"`
	OrderedAt   time.Time   `json:"ordered_at"`
	EndedAt     *time.Time  `json:"ended_at,omitempty"`
}

// ErasureTarget is something that an order would erase, or that is related to such a thing.
type ErasureTarget struct {
	ID        string   `json:"id,omitempty" doc:"Of an item."`
	Stream    string   `json:"stream"`
	Title     string   `json:"title,omitempty" doc:"Of an item: its task, or the beginning of what it says."`
	Owner     string   `json:"owner,omitempty"`
	Status    string   `json:"status,omitempty" enum:"active,superseded,deleted"`
	Scopes    []string `json:"scopes,omitempty" doc:"Of an item."`
	PassesTo  string   `json:"passes_to,omitempty" doc:"The group that it passes to instead, with keep_shared."`
	Held      bool     `json:"held,omitempty" doc:"Under legal hold: it is refused."`
	Relation  string   `json:"relation,omitempty" enum:"derived_from,derives,superseded_by,supersedes,archive_of" doc:"What it is to what related_to names: derived_from is made from that, derives is what that was made from, supersedes took its place. Empty for what was named. The archives of a session go with it."`
	RelatedTo string   `json:"related_to,omitempty" doc:"The id of an item, or a session, through which it is related."`
	Goes      bool     `json:"goes" doc:"It would be erased."`
	Kept      bool     `json:"kept,omitempty" doc:"It goes along, and stays: reason says why."`
	Reason    string   `json:"reason,omitempty" doc:"Why it stays: it is another's, under legal hold, or a session of which an archive stays."`
}

// ErasurePlan is what an order would erase.
type ErasurePlan struct {
	Items []ErasureTarget `json:"items" nullable:"false"`
	Keys  int64           `json:"keys,omitempty" doc:"That would be revoked. Of a tenant: after that only root has access, and its name stays taken."`

	KeyPrefixes []string         `json:"key_prefixes,omitempty" doc:"Of the valid keys of a user or an agent."`
	Memberships []string         `json:"memberships,omitempty" doc:"Of a user or an agent, which would end."`
	MeantFor    map[string]int64 `json:"meant_for,omitempty" doc:"How many of the items are meant for a group, by the group: with keep_shared they pass to it."`
}
