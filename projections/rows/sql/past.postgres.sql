-- One version of the projection of the past; {{.}} is its number. It says what every item was at every
-- position of the log, without texts: it has the position of the event that has the text, and a signature
-- of the tags. A row holds from position since until before position until, which is the largest number
-- while it still holds.

-- The state of an item.
CREATE TABLE past_{{.}} (
    tenant        text COLLATE "C" NOT NULL,
    number        bigint NOT NULL,
    since         bigint NOT NULL,
    until         bigint NOT NULL,
    id            text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    revision      bigint NOT NULL,
    owner         text COLLATE "C" NOT NULL,
    visibility    text COLLATE "C" NOT NULL,
    {{state `text COLLATE "C" NOT NULL` `boolean NOT NULL`}}
    trace_id      text COLLATE "C" NOT NULL,
    scopes        json NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    occurred_at   timestamptz,
    task_at       bigint NOT NULL, -- 0 where there is none
    content_at    bigint NOT NULL,
    abstract_at   bigint NOT NULL,
    overview_at   bigint NOT NULL,
    tags_at       bigint NOT NULL,
    meta_at       bigint NOT NULL,
    uri_at        bigint NOT NULL,
    tag_bits      bigint NOT NULL, -- which tags it may have; -1 for any
    PRIMARY KEY (tenant, number, since)
);
CREATE INDEX past_{{.}}_owner ON past_{{.}} (tenant, owner, number);

-- Who could find an item: one row per scope of each item that answers might contain.
CREATE TABLE past_{{.}}_scopes (
    tenant text COLLATE "C" NOT NULL,
    scope  text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    since  bigint NOT NULL,
    until  bigint NOT NULL,
    PRIMARY KEY (tenant, scope, number, since) INCLUDE (until)
);

-- Its votes, reports and confirmation. A row holds until the next one.
CREATE TABLE past_{{.}}_counts (
    tenant        text COLLATE "C" NOT NULL,
    number        bigint NOT NULL,
    since         bigint NOT NULL,
    version       bigint NOT NULL,
    helpful       integer NOT NULL,
    harmful       integer NOT NULL,
    helpful_lacks bigint NOT NULL, -- the weight of repeated votes
    harmful_lacks bigint NOT NULL,
    reporters     integer NOT NULL,
    reported_by   json NOT NULL,
    stale_since   timestamptz,
    reason_at     bigint NOT NULL,
    confirmed_at  timestamptz,
    confirm_until timestamptz,
    suspended           integer NOT NULL, -- how many of reported_by, the last, count again when the confirmation has expired
    suspended_since     timestamptz,
    suspended_reason_at bigint NOT NULL,
    PRIMARY KEY (tenant, number, since)
);
CREATE INDEX past_{{.}}_counts_reported ON past_{{.}}_counts (tenant, number, since)
    WHERE reporters > 0 OR confirm_until IS NOT NULL;

-- How a search finds an item: the packed hashes of its terms, and the hashes of its pieces that have
-- vectors. A hash may reveal a short text, so an erasure deletes these rows.
CREATE TABLE past_{{.}}_words (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    since  bigint NOT NULL,
    until  bigint NOT NULL,
    words  integer NOT NULL,
    bag    bytea NOT NULL,
    PRIMARY KEY (tenant, number, since)
);
CREATE TABLE past_{{.}}_pieces (
    tenant    text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    since     bigint NOT NULL, -- of the row of words
    piece     integer NOT NULL,
    text_hash bytea NOT NULL,
    PRIMARY KEY (tenant, number, since, piece)
);

-- As in knowledge_indexes.postgres.sql: every search joins these tables.
SELECT confine_to_tenant(content)
FROM unnest(ARRAY['past_{{.}}', 'past_{{.}}_counts']::regclass[]) AS content
WHERE (SELECT relrowsecurity FROM pg_class WHERE oid = 'events'::regclass);
