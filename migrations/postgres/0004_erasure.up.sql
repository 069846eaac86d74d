-- Erasures: a row per event that erases or redacts, computed from the log. Writers look here first, so
-- that a text that they read before its erasure is not written again.
CREATE TABLE erasures (
    tenant    text COLLATE "C" NOT NULL,
    position  bigint NOT NULL, -- of the event that erases or redacts
    event_id  uuid NOT NULL,
    stream    text COLLATE "C" NOT NULL,
    number    bigint NOT NULL, -- of the item
    texts     bigint NOT NULL, -- that were destroyed
    erased_at timestamptz NOT NULL,
    redaction boolean NOT NULL DEFAULT false, -- a redacted text takes the place of the destroyed one
    PRIMARY KEY (tenant, position)
);

-- Destroyed texts: a row per event that lost its text, computed from the log. After a redaction, the
-- remaining text is the text of the redacting event.
CREATE TABLE destroyed_texts (
    tenant   text COLLATE "C" NOT NULL,
    position bigint NOT NULL, -- of the event whose text it was
    said_at  bigint NOT NULL, -- position of the newest event that erases or redacts it
    PRIMARY KEY (tenant, position)
);

-- Purges: when the files of the database were rewritten, so that they hold nothing that was erased before.
CREATE TABLE purges (
    began_at timestamptz PRIMARY KEY,
    ended_at timestamptz NOT NULL,
    complete boolean NOT NULL, -- false if something could not be rewritten
    report   json NOT NULL
);

-- The planner keeps samples of columns in its statistics. It must keep none of the text of events.
ALTER TABLE event_texts ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE event_texts ALTER COLUMN salt SET STATISTICS 0;
