-- While a version of the knowledge projection is built: its items' scopes and terms as they came, in
-- sheaves that are merged into the table of scopes and the index of terms.

CREATE TABLE knowledge_{{.}}_sheaves (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL, -- of the sheaf
    chunk  INTEGER NOT NULL,
    first  TEXT NOT NULL, -- the first term of the chunk
    bytes  BLOB NOT NULL,
    PRIMARY KEY (tenant, number, chunk)
) STRICT;
