-- Bytes that are no text: those of the item with this id, or a file that was uploaded to become one and
-- waits for that. An item's go when its texts are erased.
CREATE TABLE files (
    tenant       text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    waits        boolean NOT NULL,
    uploader     text COLLATE "C" NOT NULL,
    name         text NOT NULL,
    content_type text NOT NULL,
    bytes        bytea NOT NULL,
    uploaded_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX files_waiting ON files (uploaded_at) WHERE waits;
