-- Runs: a row per process that gives receipts. Its number begins the ids of its receipts.
CREATE TABLE receipt_runs (
    run      INTEGER NOT NULL PRIMARY KEY,
    server   TEXT NOT NULL,
    began_at TEXT NOT NULL,
    seen_at  TEXT NOT NULL, -- when it last said that it runs
    ended_at TEXT, -- NULL while it runs, and for ever if it was killed
    lasts    TEXT NOT NULL DEFAULT '{}' -- JSON: the last sequence number of each tenant, once it ended
) STRICT;

-- Receipts in pages: what callers were given. They are not part of the log, because no state depends on them and
-- because they expire. Package projections/receipts documents the bytes.
CREATE TABLE receipt_pages (
    tenant   TEXT NOT NULL,
    run      INTEGER NOT NULL,
    first    INTEGER NOT NULL, -- sequence numbers
    last     INTEGER NOT NULL,
    receipts INTEGER NOT NULL, -- how many; less than last - first + 1 if some were lost
    from_at  TEXT NOT NULL,
    to_at    TEXT NOT NULL,
    sealed   INTEGER, -- position of the event receipts.sealed that covers them; NULL for none yet
    keys     BLOB NOT NULL, -- what the receipts are about, as hashes
    data     BLOB NOT NULL,
    texts    BLOB, -- the questions; NULL for none
    PRIMARY KEY (tenant, run, first)
) STRICT;
CREATE INDEX receipt_pages_time ON receipt_pages (tenant, to_at);
CREATE INDEX receipt_pages_unsealed ON receipt_pages (tenant, run, first) WHERE sealed IS NULL;

-- How often items were used, and when last.
CREATE TABLE item_uses (
    tenant  TEXT NOT NULL,
    number  INTEGER NOT NULL, -- of the item
    uses    INTEGER NOT NULL,
    used_at TEXT NOT NULL,
    PRIMARY KEY (tenant, number)
) STRICT, WITHOUT ROWID;
INSERT INTO item_uses (tenant, number, uses, used_at)
SELECT a.tenant, e.position, count(*), max(a.at)
FROM accesses AS a
JOIN events AS e ON e.tenant = a.tenant AND e.stream = 'knowledge:' || a.item AND e.version = 1
WHERE a.kind IN ('search', 'get') AND a.item <> ''
GROUP BY a.tenant, e.position;
DROP TABLE accesses;
