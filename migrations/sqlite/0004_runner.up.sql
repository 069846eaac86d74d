-- Which process works on a background projection: at most one at a time has a lease that has not
-- expired. term is not used any more. One process owns this file, so a lease of another one is of the past.
CREATE TABLE leases (
    projection TEXT PRIMARY KEY,
    holder     TEXT NOT NULL,
    term       INTEGER NOT NULL,
    expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Streams whose events a background projection could not take in. Their later events are passed over;
-- they are in the log, from first_position to the checkpoint, and wait to be replayed or skipped.
CREATE TABLE quarantine (
    projection     TEXT NOT NULL,
    tenant         TEXT NOT NULL,
    stream         TEXT NOT NULL,
    first_position INTEGER NOT NULL,
    event_id       TEXT NOT NULL, -- of the event that could not be taken in
    error          TEXT NOT NULL,
    since          TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    PRIMARY KEY (projection, tenant, stream)
) STRICT, WITHOUT ROWID;

-- Grows whenever a stream is put into quarantine or let out, so that whoever prepared a page before
-- notices.
ALTER TABLE checkpoints ADD COLUMN quarantines INTEGER NOT NULL DEFAULT 0;
