
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
