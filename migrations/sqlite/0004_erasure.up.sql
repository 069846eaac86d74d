-- Erasures: a row per event that erases or redacts, computed from the log. Writers look here first, so
-- that a text that they read before its erasure is not written again.
CREATE TABLE erasures (
    tenant    TEXT NOT NULL,
    position  INTEGER NOT NULL, -- of the event that erases or redacts
    event_id  TEXT NOT NULL,
    stream    TEXT NOT NULL,
    number    INTEGER NOT NULL, -- of the item
    texts     INTEGER NOT NULL, -- that were destroyed
    erased_at TEXT NOT NULL,
    redaction INTEGER NOT NULL DEFAULT 0, -- a redacted text takes the place of the destroyed one
    PRIMARY KEY (tenant, position)
) STRICT, WITHOUT ROWID;

-- Destroyed texts: a row per event that lost its text, computed from the log. After a redaction, the
-- remaining text is the text of the redacting event.
CREATE TABLE destroyed_texts (
    tenant   TEXT NOT NULL,
    position INTEGER NOT NULL, -- of the event whose text it was
    said_at  INTEGER NOT NULL, -- position of the newest event that erases or redacts it
    PRIMARY KEY (tenant, position)
) STRICT, WITHOUT ROWID;

-- Purges: when the files of the database were rewritten, so that they hold nothing that was erased before.
CREATE TABLE purges (
    began_at TEXT PRIMARY KEY,
    ended_at TEXT NOT NULL,
    complete INTEGER NOT NULL, -- 0 if something could not be rewritten
    report   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
