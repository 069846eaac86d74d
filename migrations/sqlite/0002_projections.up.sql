-- The catalogue: the versions of every projection, and their states.
CREATE TABLE projections (
    name       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('building', 'catching_up', 'verifying', 'ready',
                                              'active', 'standby', 'retired', 'failed')),
    settings   TEXT NOT NULL, -- that it was built with: fold, confidence policy, tokeniser, embedding model
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    report     TEXT, -- what its verification found; NULL until then
    PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX projections_one_active ON projections (name) WHERE state = 'active';

-- How far each background projection has read each tenant's log. The event id detects a log that was
-- restored to an earlier state.
CREATE TABLE checkpoints (
    projection  TEXT NOT NULL,
    tenant      TEXT NOT NULL,
    position    INTEGER NOT NULL,
    event_id    TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    quarantines INTEGER NOT NULL DEFAULT 0, -- how often a stream was put into quarantine or released
    PRIMARY KEY (projection, tenant)
) STRICT, WITHOUT ROWID;

-- Which process works on a background projection: at most one has a lease that has not expired. One
-- process owns the file, so a lease of another process has ended.
CREATE TABLE leases (
    projection TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Streams with an event that a background projection could not process. The projection passes over their
-- later events, from first_position to the checkpoint, until an operator replays or skips the stream.
CREATE TABLE quarantine (
    projection     TEXT NOT NULL,
    tenant         TEXT NOT NULL,
    stream         TEXT NOT NULL,
    first_position INTEGER NOT NULL,
    event_id       TEXT NOT NULL, -- of the event that could not be processed
    error          TEXT NOT NULL,
    since          TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    PRIMARY KEY (projection, tenant, stream)
) STRICT, WITHOUT ROWID;

-- The ranges of streams that a rebuild loads, and when it loaded each, so that it can resume. after is
-- the stream before the first one of the range.
CREATE TABLE rebuild_slices (
    projection TEXT NOT NULL,
    version    INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    after      TEXT NOT NULL,
    through    TEXT NOT NULL,
    streams    INTEGER NOT NULL,
    events     INTEGER,
    loaded_at  TEXT,
    PRIMARY KEY (projection, version, tenant, after)
) STRICT, WITHOUT ROWID;

-- Embedding models with a number of dimensions. The vectors of each are in a table of their own
-- (vectors_NUMBER), shared by all versions of all projections.
CREATE TABLE spaces (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    dims       INTEGER NOT NULL CHECK (dims > 0),
    created_at TEXT NOT NULL
) STRICT;
