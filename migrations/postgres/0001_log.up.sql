-- The log: what happened, in commit order, one dense sequence of positions per tenant.
-- Rows are only ever inserted. Everything else in the database can be computed from these
-- two tables.
CREATE TABLE events (
    tenant          text COLLATE "C" NOT NULL,
    position        bigint NOT NULL CHECK (position > 0),
    event_id        uuid NOT NULL,
    stream          text COLLATE "C" NOT NULL,
    version         bigint NOT NULL CHECK (version > 0),
    name            text COLLATE "C" NOT NULL,
    schema_version  integer NOT NULL CHECK (schema_version > 0),
    recorded_at     timestamptz NOT NULL,
    occurred_at     timestamptz,
    actor           text COLLATE "C" NOT NULL,
    on_behalf_of    text COLLATE "C",
    authentication  text COLLATE "C" NOT NULL,
    request_id      text COLLATE "C",
    correlation_id  text COLLATE "C",
    causation_id    text COLLATE "C",
    traceparent     text COLLATE "C",
    reason_code     text COLLATE "C",
    data            json NOT NULL, -- json, not jsonb: the hash is over exactly these bytes
    text_commitment bytea,
    hash            bytea NOT NULL,
    PRIMARY KEY (tenant, position),
    UNIQUE (tenant, stream, version),
    UNIQUE (tenant, event_id)
);

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
    tenant   text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    salt     bytea NOT NULL,
    text     json NOT NULL,
    PRIMARY KEY (tenant, position)
);

-- Idempotency keys: a repeated request is answered from the events that the first one caused.
CREATE TABLE requests (
    tenant      text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    stream      text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    position    bigint NOT NULL,
    outcome     text NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, subject, key)
);
-- An item's requests are deleted with its text, since the hash of a short text can be guessed.
CREATE INDEX requests_stream ON requests (tenant, stream);

-- The folded state of streams other than knowledge: plain fields, never text. Each append to such a
-- stream updates it, so the cost of an append does not depend on the length of the stream. Rows can be
-- deleted: a missing one is computed again from the events.
CREATE TABLE streams (
    tenant   text COLLATE "C" NOT NULL,
    stream   text COLLATE "C" NOT NULL,
    version  bigint NOT NULL, -- of its newest event
    position bigint NOT NULL, -- of its newest event
    form     integer NOT NULL, -- of the state; a state of another form is computed again
    state    json NOT NULL,
    PRIMARY KEY (tenant, stream)
);
-- Authentication finds a key in any tenant.
CREATE INDEX streams_keys ON streams (stream) WHERE stream >= 'key:' AND stream < 'key;';
-- The eraser finds unfinished erasures in any tenant.
CREATE INDEX streams_erasures ON streams (stream) WHERE stream >= 'erasure:' AND stream < 'erasure;';
