-- Runs: a row per process that gives receipts. Its number begins the ids of its receipts.
CREATE TABLE receipt_runs (
    run      bigint PRIMARY KEY,
    server   text COLLATE "C" NOT NULL,
    began_at timestamptz NOT NULL,
    seen_at  timestamptz NOT NULL, -- when it last said that it runs
    ended_at timestamptz, -- NULL while it runs, and for ever if it was killed
    lasts    text COLLATE "C" NOT NULL DEFAULT '{}' -- JSON: the last sequence number of each tenant, once it ended
);

-- Receipts in pages: what callers were given. They are not part of the log, because no state depends on them and
-- because they expire. Package projections/receipts documents the bytes.
CREATE TABLE receipt_pages (
    tenant   text COLLATE "C" NOT NULL,
    run      bigint NOT NULL,
    first    bigint NOT NULL, -- sequence numbers
    last     bigint NOT NULL,
    receipts bigint NOT NULL, -- how many; less than last - first + 1 if some were lost
    from_at  timestamptz NOT NULL,
    to_at    timestamptz NOT NULL,
    sealed   bigint, -- position of the event receipts.sealed that covers them; NULL for none yet
    keys     bytea NOT NULL, -- what the receipts are about, as hashes
    data     bytea NOT NULL,
    texts    bytea, -- the questions; NULL for none
    PRIMARY KEY (tenant, run, first)
);
CREATE INDEX receipt_pages_time ON receipt_pages (tenant, to_at);
CREATE INDEX receipt_pages_unsealed ON receipt_pages (tenant, run, first) WHERE sealed IS NULL;
-- They are compressed already. The planner must keep no sample of a question.
ALTER TABLE receipt_pages ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE receipt_pages ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE receipt_pages ALTER COLUMN texts SET STORAGE EXTERNAL;
ALTER TABLE receipt_pages ALTER COLUMN texts SET STATISTICS 0;

-- How often items were used, and when last.
CREATE TABLE item_uses (
    tenant  text COLLATE "C" NOT NULL,
    number  bigint NOT NULL, -- of the item
    uses    bigint NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, number)
);
INSERT INTO item_uses (tenant, number, uses, used_at)
SELECT a.tenant, e.position, count(*), max(a.at)
FROM accesses AS a
JOIN events AS e ON e.tenant = a.tenant AND e.stream = 'knowledge:' || a.item AND e.version = 1
WHERE a.kind IN ('search', 'get') AND a.item <> ''
GROUP BY a.tenant, e.position;
DROP TABLE accesses;
