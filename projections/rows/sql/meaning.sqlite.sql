-- One version of the projection of meaning: which pieces of text each item consists of, and the
-- sketch of each piece's vector (one bit a dimension), once per scope. Searches scan the sketches
-- in memory; this is where they are read from.
CREATE TABLE meaning_{{.Version}} (
    tenant    TEXT NOT NULL,
    scope     TEXT NOT NULL,
    number    INTEGER NOT NULL,
    piece     INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    sketch    BLOB NOT NULL,
    PRIMARY KEY (tenant, scope, number, piece)
) STRICT, WITHOUT ROWID;
CREATE INDEX meaning_{{.Version}}_number ON meaning_{{.Version}} (tenant, number);

-- The vectors of a space (little-endian float32), by the hash of their text: no text is sent to a
-- model twice, however often projections are built again.
CREATE TABLE IF NOT EXISTS vectors_{{.Space}} (
    tenant    TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (tenant, text_hash)
) STRICT;
