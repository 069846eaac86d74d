-- The log: what happened, in commit order, one dense sequence of positions per tenant.
-- Rows are only ever inserted. Everything else in the database can be computed from these
-- two tables.
CREATE TABLE events (
    tenant          TEXT NOT NULL,
    position        INTEGER NOT NULL CHECK (position > 0),
    event_id        TEXT NOT NULL,
    stream          TEXT NOT NULL,
    version         INTEGER NOT NULL CHECK (version > 0),
    name            TEXT NOT NULL,
    schema_version  INTEGER NOT NULL CHECK (schema_version > 0),
    recorded_at     TEXT NOT NULL,
    occurred_at     TEXT,
    actor           TEXT NOT NULL,
    on_behalf_of    TEXT,
    authentication  TEXT NOT NULL,
    request_id      TEXT,
    correlation_id  TEXT,
    causation_id    TEXT,
    traceparent     TEXT,
    reason_code     TEXT,
    data            TEXT NOT NULL, -- the hash is over exactly these bytes
    text_commitment BLOB,
    hash            BLOB NOT NULL,
    PRIMARY KEY (tenant, position),
    UNIQUE (tenant, stream, version),
    UNIQUE (tenant, event_id)
) STRICT;

-- What people wrote, apart from the fact that they wrote it: deleting a row here destroys
-- the text for good, and the log still verifies.
CREATE TABLE event_texts (
    tenant   TEXT NOT NULL,
    position INTEGER NOT NULL,
    salt     BLOB NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (tenant, position)
) STRICT;

-- Answers already given, by the key the caller chose: the same request again is answered
-- from the events it caused the first time.
CREATE TABLE requests (
    tenant      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    stream      TEXT NOT NULL,
    version     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (tenant, subject, key)
) STRICT, WITHOUT ROWID;

-- How far each background projection has read each tenant's log. The event id beside the
-- position notices a log that was restored to an earlier state.
CREATE TABLE checkpoints (
    projection TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    position   INTEGER NOT NULL,
    event_id   TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (projection, tenant)
) STRICT, WITHOUT ROWID;

-- The catalogue: every version of every projection there is, and in which state.
CREATE TABLE projections (
    name       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('building', 'catching_up', 'verifying', 'ready',
                                              'active', 'draining', 'retired', 'failed')),
    settings   TEXT NOT NULL, -- fold, confidence policy, tokeniser, vector space: what it was built with
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX projections_one_active ON projections (name) WHERE state = 'active';

-- Vector spaces: one per embedding model and number of dimensions, each with a table of its
-- own (vectors_NUMBER), shared by every version of every projection.
CREATE TABLE spaces (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    dims       INTEGER NOT NULL CHECK (dims > 0),
    created_at TEXT NOT NULL
) STRICT;
