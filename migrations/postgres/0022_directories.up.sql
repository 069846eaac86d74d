-- What a model said of directories, and which of them have changed since. It is computed from the items in them, and goes in the
-- transaction in which one of those is erased, redacted, forgotten, moved or given to others.
CREATE TABLE directories (
    tenant     text COLLATE "C" NOT NULL,
    uri        text COLLATE "C" NOT NULL,
    generation bigint NOT NULL DEFAULT 0, -- counts how often what was said had to go
    changed_at bigint,                    -- when something in it changed last, in microseconds since 1970; NULL if all of it is known
    since      bigint,                    -- when the first of those changes was
    due_at     bigint NOT NULL DEFAULT 0, -- not to be tried before
    attempts   bigint NOT NULL DEFAULT 0,
    audience   text COLLATE "C" NOT NULL DEFAULT '', -- the scope whose members see everything that it was made of
    made_of    text NOT NULL DEFAULT '',  -- hash of what the model was shown; empty if it said nothing
    abstract   text NOT NULL DEFAULT '',
    overview   text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, uri)
);
CREATE INDEX directories_changed ON directories (changed_at) WHERE changed_at IS NOT NULL;
