
-- The index of words: one row per term and block of 65,536 numbers, with the numbers, counts and lengths of
-- the items that have the term. Sets of items, such as those of a scope, are rows of the same kind. Their keys
-- are greater than those of terms. Term -1 has a number that changes with every change of the blocks.
CREATE TABLE knowledge_{{.}}_postings (
    tenant TEXT NOT NULL,
    term   INTEGER NOT NULL, -- 48 bits of its hash; above them the kind of a set
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
