DROP TABLE item_uses;
DROP TABLE receipt_pages;
DROP TABLE receipt_runs;

-- Accesses: a row per item of an answer, or one for a denied request. They are not part of the log,
-- because no state depends on them and because they expire. access_id is a UUIDv7, in order of time.
CREATE TABLE accesses (
    tenant         TEXT NOT NULL,
    access_id      TEXT NOT NULL,
    rank           INTEGER NOT NULL, -- the item's place in the answer: 1, 2, 3 …
    at             TEXT NOT NULL,
    kind           TEXT NOT NULL, -- search, get, list or denied
    route          TEXT NOT NULL,
    status         INTEGER NOT NULL,
    actor          TEXT NOT NULL, -- empty if unknown
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
