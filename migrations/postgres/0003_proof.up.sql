-- The Merkle tree (RFC 6962) over each tenant's log: leaves and inner nodes in the order of their
-- creation. A row holds the hashes of some consecutive events. Rows are only inserted.
CREATE TABLE tree (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number >= 0), -- of the row's first hash: 0, 1, 2 …
    size   bigint NOT NULL CHECK (size > 0),    -- events that the tree has with this row
    hashes bytea NOT NULL,                      -- 32 bytes each
    PRIMARY KEY (tenant, number)
);
ALTER TABLE tree ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes cannot be compressed

-- Signed checkpoints: a signature over the root of the tree at a size.
CREATE TABLE signed_checkpoints (
    tenant    text COLLATE "C" NOT NULL,
    size      bigint NOT NULL CHECK (size > 0),
    signer    text COLLATE "C" NOT NULL, -- name and number of the key
    note      text NOT NULL,
    signed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, size, signer)
);
