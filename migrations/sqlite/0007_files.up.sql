-- Binary content: of the item with this id, or of an upload that waits to become an item. It is deleted
-- when the item's text is erased.
CREATE TABLE files (
    tenant       TEXT NOT NULL,
    id           TEXT NOT NULL,
    waits        INTEGER NOT NULL,
    uploader     TEXT NOT NULL,
    name         TEXT NOT NULL,
    content_type TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    uploaded_at  TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX files_waiting ON files (uploaded_at) WHERE waits;

-- Summaries of directories, written by a model, and which directories have changed since. The transaction
-- that erases, redacts, deletes, moves or rescopes an item deletes the summaries made from it.
CREATE TABLE directories (
    tenant     TEXT NOT NULL,
    uri        TEXT NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, -- counts how often the summary was invalidated
    changed_at INTEGER,                    -- last change, in microseconds since 1970; NULL if the summary is current
    since      INTEGER,                    -- first change since the summary
    due_at     INTEGER NOT NULL DEFAULT 0, -- the next attempt is not before
    attempts   INTEGER NOT NULL DEFAULT 0,
    audience   TEXT NOT NULL DEFAULT '', -- the scope whose members see all items of the summary
    made_of    TEXT NOT NULL DEFAULT '',  -- hash of the model's input; empty if there is no summary
    abstract   TEXT NOT NULL DEFAULT '',
    overview   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, uri)
) STRICT;
CREATE INDEX directories_changed ON directories (changed_at) WHERE changed_at IS NOT NULL;
