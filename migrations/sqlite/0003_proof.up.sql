-- The Merkle tree (RFC 6962) over each tenant's log: leaves and inner nodes in the order of their
-- creation. A row holds the hashes of some consecutive events. Rows are only inserted.
CREATE TABLE tree (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0), -- of the row's first hash: 0, 1, 2 …
    size   INTEGER NOT NULL CHECK (size > 0),    -- events that the tree has with this row
    hashes BLOB NOT NULL,                        -- 32 bytes each
    PRIMARY KEY (tenant, number)
) STRICT;

-- Signed checkpoints: a signature over the root of the tree at a size.
CREATE TABLE signed_checkpoints (
    tenant    TEXT NOT NULL,
    size      INTEGER NOT NULL CHECK (size > 0),
    signer    TEXT NOT NULL, -- name and number of the key
    note      TEXT NOT NULL,
    signed_at TEXT NOT NULL,
    PRIMARY KEY (tenant, size, signer)
) STRICT;
