
-- The index of words: one row per term and block of 65,536 numbers, with the numbers, counts and lengths of
-- the items that have the term. Sets of items, such as those of a scope, are rows of the same kind. Their keys
-- are greater than those of terms. Term -1 has a number that changes with every change of the blocks.
CREATE TABLE knowledge_{{.}}_postings (
    tenant text COLLATE "C" NOT NULL,
    term   bigint NOT NULL, -- 48 bits of its hash; above them the kind of a set
    block  bigint NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (tenant, term, block)
);
ALTER TABLE knowledge_{{.}}_postings ALTER COLUMN data SET STORAGE EXTERNAL; -- compressing saves nothing

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
