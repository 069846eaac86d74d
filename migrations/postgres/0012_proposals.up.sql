-- The proposals to review items together: a row per item of each, written with the state of its stream. Unlike that
-- state, they are read by item and by kind.
CREATE TABLE proposals (
    tenant   text COLLATE "C" NOT NULL,
    proposal text COLLATE "C" NOT NULL, -- the name of its stream without "review:"
    item     text COLLATE "C" NOT NULL, -- an id
    kind     text COLLATE "C" NOT NULL, -- duplicate or contradiction
    score    double precision NOT NULL,
    at       timestamptz NOT NULL, -- when it was proposed
    is_open  boolean NOT NULL,
    PRIMARY KEY (tenant, proposal, item)
);
CREATE INDEX proposals_item ON proposals (tenant, item);
CREATE INDEX proposals_open ON proposals (tenant, kind, at) WHERE is_open;
INSERT INTO proposals (tenant, proposal, item, kind, score, at, is_open)
SELECT
    e.tenant, substr(e.stream, 8), i.item, e.data ->> 'kind', coalesce((e.data ->> 'score')::double precision, 0),
    e.recorded_at,
    NOT EXISTS (
        SELECT 1 FROM events AS c WHERE c.tenant = e.tenant AND c.stream = e.stream AND c.name = 'review.closed'
    )
FROM events AS e
CROSS JOIN LATERAL json_array_elements_text(e.data -> 'items') AS i (item)
WHERE e.name = 'review.proposed';
DROP INDEX streams_open_reviews;
