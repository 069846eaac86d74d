DROP TABLE item_uses;
DROP TABLE receipt_pages;
DROP TABLE receipt_runs;

-- Accesses: a row per item of an answer, or one for a denied request. They are not part of the log,
-- because no state depends on them and because they expire. access_id is a UUIDv7, in order of time.
CREATE TABLE accesses (
    tenant         text COLLATE "C" NOT NULL,
    access_id      uuid NOT NULL,
    rank           integer NOT NULL, -- the item's place in the answer: 1, 2, 3 …
    at             timestamptz NOT NULL,
    kind           text COLLATE "C" NOT NULL, -- search, get, list or denied
    route          text COLLATE "C" NOT NULL,
    status         integer NOT NULL,
    actor          text COLLATE "C" NOT NULL, -- empty if unknown
    on_behalf_of   text COLLATE "C" NOT NULL,
    authentication text COLLATE "C" NOT NULL,
    request_id     text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    trace_id       text COLLATE "C" NOT NULL,
    item           text COLLATE "C" NOT NULL, -- empty if no item was named
    score          double precision NOT NULL,
    PRIMARY KEY (tenant, access_id, rank)
);
CREATE INDEX accesses_item ON accesses (tenant, item, access_id) WHERE item <> '';
CREATE INDEX accesses_denied ON accesses (tenant, access_id) WHERE kind = 'denied';
