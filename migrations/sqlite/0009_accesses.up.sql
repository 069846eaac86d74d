-- Who was given which knowledge, and who was denied what: apart from the log, because nothing follows
-- from it, and because it is not kept for ever. A row per item that was given, or one for what was
-- denied. access_id is a UUIDv7: in order of time.
CREATE TABLE accesses (
    tenant         TEXT NOT NULL,
    access_id      TEXT NOT NULL,
    rank           INTEGER NOT NULL, -- the item's place in the answer: 1, 2, 3 …
    at             TEXT NOT NULL,
    kind           TEXT NOT NULL, -- search, get, list or denied
    route          TEXT NOT NULL,
    status         INTEGER NOT NULL,
    actor          TEXT NOT NULL, -- empty if nobody knows
    on_behalf_of   TEXT NOT NULL,
    authentication TEXT NOT NULL,
    request_id     TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    trace_id       TEXT NOT NULL,
    item           TEXT NOT NULL, -- empty if no item was named
    score          REAL NOT NULL,
    PRIMARY KEY (tenant, access_id, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX accesses_item ON accesses (tenant, item, access_id) WHERE item <> '';
CREATE INDEX accesses_denied ON accesses (tenant, access_id) WHERE kind = 'denied';
