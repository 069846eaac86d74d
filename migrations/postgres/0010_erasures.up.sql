-- What was erased: a row per event that says so, in the log of the same tenant, and computed from it. A
-- text that was read before is not written again after: whoever writes looks here first.
CREATE TABLE erasures (
    tenant    text COLLATE "C" NOT NULL,
    position  bigint NOT NULL, -- of the event that says so
    event_id  uuid NOT NULL,
    stream    text COLLATE "C" NOT NULL,
    number    bigint NOT NULL, -- of the item
    texts     bigint NOT NULL, -- that were destroyed
    erased_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, position)
);

-- When the files were rewritten, so that nothing of what was erased before is left in them.
CREATE TABLE sweeps (
    began_at timestamptz PRIMARY KEY,
    ended_at timestamptz NOT NULL,
    complete boolean NOT NULL, -- false if something could not be rewritten
    report   json NOT NULL
);

-- The requests about an item: what they asked for is forgotten with it, since the hash of a short text
-- can be guessed.
CREATE INDEX requests_stream ON requests (tenant, stream);
-- Erasures of many things that are under way, whatever the tenant.
CREATE INDEX streams_erasures ON streams (stream) WHERE stream >= 'erasure:' AND stream < 'erasure;';
-- The planner keeps samples of columns in a table of its own. Of what people wrote it shall keep none.
ALTER TABLE event_texts ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE event_texts ALTER COLUMN salt SET STATISTICS 0;
