-- Bytes that are no text: those of the item with this id, or a file that was uploaded to become one and
-- waits for that. An item's go when its texts are erased.
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
