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

-- The commits of sessions, newest first. Each commit is a task.
CREATE INDEX events_commits ON events (tenant, position)
WHERE name = 'session.committed';
-- The archives of one session, and the outcome of each extraction.
CREATE INDEX events_archives ON events (tenant, stream, version)
WHERE name IN ('session.committed', 'session.extracted', 'session.extraction_failed');
-- Failed extractions, which the server retries.
CREATE INDEX events_failed_extractions ON events (tenant, position)
WHERE name = 'session.extraction_failed';

-- The text of events, apart from the events: deleting a row here destroys the text for good, and the
-- log still verifies.
CREATE TABLE event_texts (
    tenant   TEXT NOT NULL,
    position INTEGER NOT NULL,
    salt     BLOB NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (tenant, position)
) STRICT;

-- Idempotency keys: a repeated request is answered from the events that the first one caused.
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
-- An item's requests are deleted with its text, since the hash of a short text can be guessed.
CREATE INDEX requests_stream ON requests (tenant, stream);

-- The folded state of streams other than knowledge: plain fields, never text. Each append to such a
-- stream updates it, so the cost of an append does not depend on the length of the stream. Rows can be
-- deleted: a missing one is computed again from the events.
CREATE TABLE streams (
    tenant   TEXT NOT NULL,
    stream   TEXT NOT NULL,
    version  INTEGER NOT NULL, -- of its newest event
    position INTEGER NOT NULL, -- of its newest event
    form     INTEGER NOT NULL, -- of the state; a state of another form is computed again
    state    TEXT NOT NULL,
    PRIMARY KEY (tenant, stream)
) STRICT, WITHOUT ROWID;
-- Authentication finds a key in any tenant.
CREATE INDEX streams_keys ON streams (stream) WHERE stream >= 'key:' AND stream < 'key;';
-- The eraser finds unfinished erasures in any tenant.
CREATE INDEX streams_erasures ON streams (stream) WHERE stream >= 'erasure:' AND stream < 'erasure;';
