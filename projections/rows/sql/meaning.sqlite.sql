-- One version of the projection of meaning: the pieces of each item's text, and the sketch of each
-- piece's vector (one bit per dimension), once per scope. Searches read them into memory and scan
-- them there.
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

-- The vectors of a model (little-endian float32), by the hash of their text, so that no text is sent
-- to the model twice.
CREATE TABLE IF NOT EXISTS vectors_{{.Space}} (
    tenant    TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (tenant, text_hash)
) STRICT;
