-- What a model said of directories, and which of them have changed since. It is computed from the items in them, and goes in the
-- transaction in which one of those is erased, redacted, forgotten, moved or given to others.
CREATE TABLE directories (
    tenant     TEXT NOT NULL,
    uri        TEXT NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, -- counts how often what was said had to go
    changed_at INTEGER,                    -- when something in it changed last, in microseconds since 1970; NULL if all of it is known
    since      INTEGER,                    -- when the first of those changes was
    due_at     INTEGER NOT NULL DEFAULT 0, -- not to be tried before
    attempts   INTEGER NOT NULL DEFAULT 0,
    audience   TEXT NOT NULL DEFAULT '', -- the scope whose members see everything that it was made of
    made_of    TEXT NOT NULL DEFAULT '',  -- hash of what the model was shown; empty if it said nothing
    abstract   TEXT NOT NULL DEFAULT '',
    overview   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, uri)
) STRICT;
CREATE INDEX directories_changed ON directories (changed_at) WHERE changed_at IS NOT NULL;
