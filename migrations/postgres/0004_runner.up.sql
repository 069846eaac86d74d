-- Which process works on a background projection: at most one at a time has a lease that has not
-- expired, by the clock of this database. term is not used any more.
CREATE TABLE leases (
    projection text COLLATE "C" PRIMARY KEY,
    holder     text NOT NULL,
    term       bigint NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Streams whose events a background projection could not take in. Their later events are passed over;
-- they are in the log, from first_position to the checkpoint, and wait to be replayed or skipped.
CREATE TABLE quarantine (
    projection     text COLLATE "C" NOT NULL,
    tenant         text COLLATE "C" NOT NULL,
    stream         text COLLATE "C" NOT NULL,
    first_position bigint NOT NULL,
    event_id       uuid NOT NULL, -- of the event that could not be taken in
    error          text NOT NULL,
    since          timestamptz NOT NULL,
    attempts       integer NOT NULL,
    PRIMARY KEY (projection, tenant, stream)
);

-- Grows whenever a stream is put into quarantine or let out, so that whoever prepared a page before
-- notices.
ALTER TABLE checkpoints ADD COLUMN quarantines bigint NOT NULL DEFAULT 0;
