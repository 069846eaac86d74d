-- One version of the knowledge projection; {{.}} is its number. Everything here can be
-- deleted and computed again from the log.

-- The state and the texts of an item, and the counts of its votes. Vectors are elsewhere.
CREATE TABLE knowledge_{{.}} (
    tenant          TEXT NOT NULL,
    id              TEXT NOT NULL,
    number          INTEGER NOT NULL, -- the position of its first event: short, and unique in the tenant
    owner           TEXT NOT NULL,
    visibility      TEXT NOT NULL,
    {{state `TEXT NOT NULL` `INTEGER NOT NULL`}}
    uri             TEXT NOT NULL,
    task            TEXT NOT NULL,
    content         TEXT NOT NULL,
    abstract        TEXT NOT NULL,
    overview        TEXT NOT NULL,
    tags            TEXT NOT NULL,
    meta            TEXT,
    source          TEXT NOT NULL,
    trace_id        TEXT NOT NULL,
    scopes          TEXT NOT NULL,
    baseline        TEXT NOT NULL,
    derived_from    TEXT NOT NULL,
    relations       TEXT NOT NULL DEFAULT '[]',
    words           INTEGER NOT NULL, -- the length that BM25 normalises by
    helpful         INTEGER NOT NULL,
    harmful         INTEGER NOT NULL,
    confidence      REAL NOT NULL,
    stale_reporters INTEGER NOT NULL,
    stale_since     TEXT,
    stale_reason    TEXT NOT NULL,
    confirmed_at    TEXT,
    confirm_until   TEXT,
    suspended_reporters INTEGER NOT NULL, -- reports that count again when the confirmation has expired
    suspended_since     TEXT,
    suspended_reason    TEXT NOT NULL,
    expired_confidence  REAL NOT NULL, -- the confidence from then on
    revision        INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    occurred_at     TEXT,
    PRIMARY KEY (tenant, id)
) STRICT;

-- The index of words: terms whose hashes begin with the same 13 bits share one row per block of 65,536 numbers.
-- It has the numbers, counts and lengths of the items of each. Sets of items, such as those of a scope, have rows of
-- their own. Term -1 has a number that changes with every change of the blocks.
CREATE TABLE knowledge_{{.}}_blocks (
    tenant TEXT NOT NULL,
    term   INTEGER NOT NULL, -- 13 bits of hashes; or of a set, the kind above 48 bits of its hash
    block  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (tenant, term, block)
) STRICT, WITHOUT ROWID;

-- The items that changed since they were indexed. A search ignores what the blocks have of them. An item's
-- entry is its length, its sets and its terms.
CREATE TABLE knowledge_{{.}}_changes (
    tenant  TEXT NOT NULL,
    number  INTEGER NOT NULL,
    version INTEGER NOT NULL, -- of the item
    was     BLOB, -- its entry in the blocks; NULL if they do not have it
    now     BLOB, -- NULL if no answer may contain it
    PRIMARY KEY (tenant, number)
) STRICT;

-- The votes that count, in the order of items, as a rebuild inserts them. A ballot has at most one.
CREATE TABLE knowledge_{{.}}_votes (
    tenant   TEXT NOT NULL,
    id       TEXT NOT NULL,
    event_id TEXT NOT NULL,
    voter    TEXT NOT NULL,
    ballot   TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    query    TEXT NOT NULL,
    outcome  TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (tenant, id, event_id)
) STRICT, WITHOUT ROWID;

-- The reports of staleness since the last confirmation without an expiry date, one per reporter.
CREATE TABLE knowledge_{{.}}_reports (
    tenant   TEXT NOT NULL,
    id       TEXT NOT NULL,
    reporter TEXT NOT NULL,
    event_id TEXT NOT NULL,
    reason   TEXT NOT NULL,
    at       TEXT NOT NULL,
    suspended INTEGER NOT NULL, -- until the confirmation that followed expires
    PRIMARY KEY (tenant, id, reporter)
) STRICT, WITHOUT ROWID;
