-- What was erased: a row per event that says so, in the log of the same tenant, and computed from it. A
-- text that was read before is not written again after: whoever writes looks here first.
CREATE TABLE erasures (
    tenant    TEXT NOT NULL,
    position  INTEGER NOT NULL, -- of the event that says so
    event_id  TEXT NOT NULL,
    stream    TEXT NOT NULL,
    number    INTEGER NOT NULL, -- of the item
    texts     INTEGER NOT NULL, -- that were destroyed
    erased_at TEXT NOT NULL,
    PRIMARY KEY (tenant, position)
) STRICT, WITHOUT ROWID;

-- When the files were rewritten, so that nothing of what was erased before is left in them.
CREATE TABLE sweeps (
    began_at TEXT PRIMARY KEY,
    ended_at TEXT NOT NULL,
    complete INTEGER NOT NULL, -- 0 if something could not be rewritten
    report   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The requests about an item: what they asked for is forgotten with it, since the hash of a short text
-- can be guessed.
CREATE INDEX requests_stream ON requests (tenant, stream);
-- Erasures of many things that are under way, whatever the tenant.
CREATE INDEX streams_erasures ON streams (stream) WHERE stream >= 'erasure:' AND stream < 'erasure;';
