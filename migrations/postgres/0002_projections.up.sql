-- The catalogue: the versions of every projection, and their states.
CREATE TABLE projections (
    name       text COLLATE "C" NOT NULL,
    version    integer NOT NULL,
    state      text NOT NULL CHECK (state IN ('building', 'catching_up', 'verifying', 'ready',
                                              'active', 'standby', 'retired', 'failed')),
    settings   json NOT NULL, -- that it was built with: fold, confidence policy, tokeniser, embedding model
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    report     json, -- what its verification found; NULL until then
    PRIMARY KEY (name, version)
);
CREATE UNIQUE INDEX projections_one_active ON projections (name) WHERE state = 'active';

-- How far each background projection has read each tenant's log. The event id detects a log that was
-- restored to an earlier state.
CREATE TABLE checkpoints (
    projection  text COLLATE "C" NOT NULL,
    tenant      text COLLATE "C" NOT NULL,
    position    bigint NOT NULL,
    event_id    uuid NOT NULL,
    updated_at  timestamptz NOT NULL,
    quarantines bigint NOT NULL DEFAULT 0, -- how often a stream was put into quarantine or released
    PRIMARY KEY (projection, tenant)
);

-- Which process works on a background projection: at most one at a time has a lease that has not
-- expired, by the clock of the database.
CREATE TABLE leases (
    projection text COLLATE "C" PRIMARY KEY,
    holder     text NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Streams with an event that a background projection could not process. The projection passes over their
-- later events, from first_position to the checkpoint, until an operator replays or skips the stream.
CREATE TABLE quarantine (
    projection     text COLLATE "C" NOT NULL,
    tenant         text COLLATE "C" NOT NULL,
    stream         text COLLATE "C" NOT NULL,
    first_position bigint NOT NULL,
    event_id       uuid NOT NULL, -- of the event that could not be processed
    error          text NOT NULL,
    since          timestamptz NOT NULL,
    attempts       integer NOT NULL,
    PRIMARY KEY (projection, tenant, stream)
);

-- The ranges of streams that a rebuild loads, and when it loaded each, so that it can resume. after is
-- the stream before the first one of the range.
CREATE TABLE rebuild_slices (
    projection text COLLATE "C" NOT NULL,
    version    integer NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    after      text COLLATE "C" NOT NULL,
    through    text COLLATE "C" NOT NULL,
    streams    bigint NOT NULL,
    events     bigint,
    loaded_at  timestamptz,
    PRIMARY KEY (projection, version, tenant, after)
);

-- Embedding models with a number of dimensions. The vectors of each are in a table of their own
-- (vectors_NUMBER), shared by all versions of all projections.
CREATE TABLE spaces (
    number     integer PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    dims       integer NOT NULL CHECK (dims > 0),
    created_at timestamptz NOT NULL
);
