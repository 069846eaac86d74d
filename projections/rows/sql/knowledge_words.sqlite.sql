
-- The index of words: terms whose hashes begin with the same 13 bits share one row per block of 65,536 numbers.
-- It has the numbers, counts and lengths of the items of each. Sets of items, such as those of a scope, have rows of
-- their own. Term -1 has a number that changes with every change of the blocks.
CREATE TABLE knowledge_{{.}}_blocks (
    tenant TEXT NOT NULL,
    term   INTEGER NOT NULL, -- 13 bits of hashes; or of a set, the kind above 48 bits of its hash
    block  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    PRIMARY KEY (tenant, term, block)
) STRICT, WITHOUT ROWID;

-- The items that changed since they were indexed. A search ignores what the blocks have of them. An item's
-- entry is its length, its sets and its terms.
CREATE TABLE knowledge_{{.}}_changes (
    tenant  TEXT NOT NULL,
    number  INTEGER NOT NULL,
    version INTEGER NOT NULL, -- of the item
    was     BLOB, -- its entry in the blocks; NULL if they do not have it
    now     BLOB, -- NULL if no answer may contain it
    PRIMARY KEY (tenant, number)
) STRICT;
