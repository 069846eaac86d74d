-- Whose key it is, whatever the tenant: what a request with a key looks up.
CREATE INDEX streams_keys ON streams (stream) WHERE stream >= 'key:' AND stream < 'key;';

-- About when each key was used last. It is written now and then, and is no event.
CREATE TABLE key_uses (
    tenant  TEXT NOT NULL,
    prefix  TEXT NOT NULL,
    used_at TEXT NOT NULL,
    PRIMARY KEY (tenant, prefix)
) STRICT, WITHOUT ROWID;
