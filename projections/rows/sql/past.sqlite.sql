-- One version of the projection of the past; {{.}} is its number. It says what every item was at every
-- position of the log, without texts: it has the position of the event that has the text, and a signature
-- of the tags. A row holds from position since until before position until, which is the largest number
-- while it still holds.

-- The state of an item.
CREATE TABLE past_{{.}} (
    tenant        TEXT NOT NULL,
    number        INTEGER NOT NULL,
    since         INTEGER NOT NULL,
    until         INTEGER NOT NULL,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    owner         TEXT NOT NULL,
    visibility    TEXT NOT NULL,
    {{state `TEXT NOT NULL` `INTEGER NOT NULL`}}
    trace_id      TEXT NOT NULL,
    scopes        TEXT NOT NULL,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    occurred_at   TEXT,
    task_at       INTEGER NOT NULL, -- 0 where there is none
    content_at    INTEGER NOT NULL,
    abstract_at   INTEGER NOT NULL,
    overview_at   INTEGER NOT NULL,
    tags_at       INTEGER NOT NULL,
    meta_at       INTEGER NOT NULL,
    uri_at        INTEGER NOT NULL,
    tag_bits      INTEGER NOT NULL, -- which tags it may have; -1 for any
    PRIMARY KEY (tenant, number, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX past_{{.}}_owner ON past_{{.}} (tenant, owner, number);

-- Who could find an item: one row per scope of each item that answers might contain.
CREATE TABLE past_{{.}}_scopes (
    tenant TEXT NOT NULL,
    scope  TEXT NOT NULL,
    number INTEGER NOT NULL,
    since  INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope, number, since)
) STRICT, WITHOUT ROWID;

-- Its votes, reports and confirmation. A row holds until the next one.
CREATE TABLE past_{{.}}_counts (
    tenant        TEXT NOT NULL,
    number        INTEGER NOT NULL,
    since         INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    helpful       INTEGER NOT NULL,
    harmful       INTEGER NOT NULL,
    helpful_lacks INTEGER NOT NULL, -- the weight of repeated votes
    harmful_lacks INTEGER NOT NULL,
    reporters     INTEGER NOT NULL,
    reported_by   TEXT NOT NULL,
    stale_since   TEXT,
    reason_at     INTEGER NOT NULL,
    confirmed_at  TEXT,
    confirm_until TEXT,
    suspended           INTEGER NOT NULL, -- how many of reported_by, the last, count again when the confirmation has expired
    suspended_since     TEXT,
    suspended_reason_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, number, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX past_{{.}}_counts_reported ON past_{{.}}_counts (tenant, number, since)
    WHERE reporters > 0 OR confirm_until IS NOT NULL;

-- How a search finds an item: the packed hashes of its terms, and the hashes of its pieces that have
-- vectors. A hash may reveal a short text, so an erasure deletes these rows.
CREATE TABLE past_{{.}}_words (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL,
    since  INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    words  INTEGER NOT NULL,
    bag    BLOB NOT NULL,
    PRIMARY KEY (tenant, number, since)
) STRICT, WITHOUT ROWID;
CREATE TABLE past_{{.}}_pieces (
    tenant    TEXT NOT NULL,
    number    INTEGER NOT NULL,
    since     INTEGER NOT NULL, -- of the row of words
    piece     INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    PRIMARY KEY (tenant, number, since, piece)
) STRICT, WITHOUT ROWID;
