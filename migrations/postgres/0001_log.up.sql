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

-- What people wrote, apart from the fact that they wrote it: deleting a row here destroys
-- the text for good, and the log still verifies.
CREATE TABLE event_texts (
    tenant   text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    salt     bytea NOT NULL,
    text     json NOT NULL,
    PRIMARY KEY (tenant, position)
);

-- Answers already given, by the key the caller chose: the same request again is answered
-- from the events it caused the first time.
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

-- How far each background projection has read each tenant's log. The event id beside the
-- position notices a log that was restored to an earlier state.
CREATE TABLE checkpoints (
    projection text COLLATE "C" NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    position   bigint NOT NULL,
    event_id   uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (projection, tenant)
);

-- The catalogue: every version of every projection there is, and in which state.
CREATE TABLE projections (
    name       text COLLATE "C" NOT NULL,
    version    integer NOT NULL,
    state      text NOT NULL CHECK (state IN ('building', 'catching_up', 'verifying', 'ready',
                                              'active', 'draining', 'retired', 'failed')),
    settings   json NOT NULL, -- fold, confidence policy, tokeniser, vector space: what it was built with
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX projections_one_active ON projections (name) WHERE state = 'active';

-- Vector spaces: one per embedding model and number of dimensions, each with a table of its
-- own (vectors_NUMBER), shared by every version of every projection.
CREATE TABLE spaces (
    number     integer PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    dims       integer NOT NULL CHECK (dims > 0),
    created_at timestamptz NOT NULL
);
