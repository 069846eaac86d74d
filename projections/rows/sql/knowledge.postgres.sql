-- One version of the knowledge projection; {{.}} is its number. Everything here can be
-- deleted and computed again from the log.

-- The state and the texts of an item, and the counts of its votes. Vectors are elsewhere: an update of
-- any column would insert the row's vector into its index again.
CREATE TABLE knowledge_{{.}} (
    tenant          text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    number          bigint NOT NULL, -- the position of its first event: short, and unique in the tenant
    owner           text COLLATE "C" NOT NULL,
    visibility      text COLLATE "C" NOT NULL,
    {{state `text COLLATE "C" NOT NULL` `boolean NOT NULL`}}
    uri             text COLLATE "C" NOT NULL,
    task            text NOT NULL,
    content         text NOT NULL,
    abstract        text NOT NULL,
    overview        text NOT NULL,
    tags            jsonb NOT NULL,
    meta            json,
    source          json NOT NULL,
    trace_id        text COLLATE "C" NOT NULL,
    scopes          json NOT NULL,
    baseline        json NOT NULL,
    derived_from    json NOT NULL,
    relations       json NOT NULL DEFAULT '[]',
    words           integer NOT NULL, -- the length that BM25 normalises by
    helpful         integer NOT NULL,
    harmful         integer NOT NULL,
    confidence      double precision NOT NULL,
    stale_reporters integer NOT NULL,
    stale_since     timestamptz,
    stale_reason    text NOT NULL,
    confirmed_at    timestamptz,
    confirm_until   timestamptz,
    suspended_reporters integer NOT NULL, -- reports that count again when the confirmation has expired
    suspended_since     timestamptz,
    suspended_reason    text NOT NULL,
    expired_confidence  double precision NOT NULL, -- the confidence from then on
    revision        bigint NOT NULL,
    version         bigint NOT NULL,
    position        bigint NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    occurred_at     timestamptz
) WITH (fillfactor = 90);

-- The index of words: terms whose hashes begin with the same 13 bits share one row per block of 65,536 numbers.
-- It has the numbers, counts and lengths of the items of each. Sets of items, such as those of a scope, have rows of
-- their own. Term -1 has a number that changes with every change of the blocks.
CREATE TABLE knowledge_{{.}}_blocks (
    tenant text COLLATE "C" NOT NULL,
    term   bigint NOT NULL, -- 13 bits of hashes; or of a set, the kind above 48 bits of its hash
    block  bigint NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (tenant, term, block)
) WITH (fillfactor = 50, toast_tuple_target = 8160); -- a row is rewritten in its page, where it stays up to 8 KB
ALTER TABLE knowledge_{{.}}_blocks ALTER COLUMN data SET STORAGE EXTERNAL; -- compressing saves nothing

-- The items that changed since they were indexed. A search ignores what the blocks have of them. An item's
-- entry is its length, its sets and its terms.
CREATE TABLE knowledge_{{.}}_changes (
    tenant  text COLLATE "C" NOT NULL,
    number  bigint NOT NULL,
    version bigint NOT NULL, -- of the item
    was     bytea, -- its entry in the blocks; NULL if they do not have it
    now     bytea, -- NULL if no answer may contain it
    PRIMARY KEY (tenant, number)
);

-- The votes that count. A ballot has at most one.
CREATE TABLE knowledge_{{.}}_votes (
    tenant   text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    voter    text COLLATE "C" NOT NULL,
    ballot   text COLLATE "C" NOT NULL,
    verdict  text COLLATE "C" NOT NULL,
    trace_id text COLLATE "C" NOT NULL,
    query    text NOT NULL,
    outcome  text NOT NULL,
    at       timestamptz NOT NULL
);

-- The reports of staleness since the last confirmation without an expiry date, one per reporter.
CREATE TABLE knowledge_{{.}}_reports (
    tenant   text COLLATE "C" NOT NULL,
    id       text COLLATE "C" NOT NULL,
    reporter text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    reason   text NOT NULL,
    at       timestamptz NOT NULL,
    suspended boolean NOT NULL -- until the confirmation that followed expires
);
