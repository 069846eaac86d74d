-- The proposals to review items together: a row per item of each, written with the state of its stream. Unlike that
-- state, they are read by item and by kind.
CREATE TABLE proposals (
    tenant   TEXT NOT NULL,
    proposal TEXT NOT NULL, -- the name of its stream without "review:"
    item     TEXT NOT NULL, -- an id
    kind     TEXT NOT NULL, -- duplicate or contradiction
    score    REAL NOT NULL,
    at       TEXT NOT NULL, -- when it was proposed
    is_open  INTEGER NOT NULL,
    PRIMARY KEY (tenant, proposal, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_item ON proposals (tenant, item);
CREATE INDEX proposals_open ON proposals (tenant, kind, at) WHERE is_open;
INSERT INTO proposals (tenant, proposal, item, kind, score, at, is_open)
SELECT
    e.tenant, substr(e.stream, 8), i.value, e.data ->> 'kind', coalesce(CAST(e.data ->> 'score' AS REAL), 0),
    e.recorded_at,
    NOT EXISTS (
        SELECT 1 FROM events AS c WHERE c.tenant = e.tenant AND c.stream = e.stream AND c.name = 'review.closed'
    )
FROM events AS e
CROSS JOIN json_each(e.data, '$.items') AS i
WHERE e.name = 'review.proposed';
DROP INDEX streams_open_reviews;
