-- Binary content: of the item with this id, or of an upload that waits to become an item. It is deleted
-- when the item's text is erased.
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

-- Summaries of directories, written by a model, and which directories have changed since. The transaction
-- that erases, redacts, deletes, moves or rescopes an item deletes the summaries made from it.
CREATE TABLE directories (
    tenant     text COLLATE "C" NOT NULL,
    uri        text COLLATE "C" NOT NULL,
    generation bigint NOT NULL DEFAULT 0, -- counts how often the summary was invalidated
    changed_at bigint,                    -- last change, in microseconds since 1970; NULL if the summary is current
    since      bigint,                    -- first change since the summary
    due_at     bigint NOT NULL DEFAULT 0, -- the next attempt is not before
    attempts   bigint NOT NULL DEFAULT 0,
    audience   text COLLATE "C" NOT NULL DEFAULT '', -- the scope whose members see all items of the summary
    made_of    text NOT NULL DEFAULT '',  -- hash of the model's input; empty if there is no summary
    abstract   text NOT NULL DEFAULT '',
    overview   text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, uri)
);
CREATE INDEX directories_changed ON directories (changed_at) WHERE changed_at IS NOT NULL;
