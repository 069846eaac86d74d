-- One version of the projection of meaning: the pieces of each item's text, and the sketch of each
-- piece's vector (one bit per dimension). Searches read them into memory and scan them there.
CREATE TABLE meaning_{{.Version}} (
    tenant    TEXT NOT NULL,
    scope     TEXT NOT NULL, -- empty; tables of earlier versions have a row for each scope of a piece
    number    INTEGER NOT NULL,
    piece     INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    sketch    BLOB NOT NULL,
    PRIMARY KEY (tenant, number, piece)
) STRICT, WITHOUT ROWID;

-- The vectors of a model, by the hash of their text, so that no text is sent to the model twice: a
-- signed byte per dimension. Vectors of earlier versions are little-endian float32.
CREATE TABLE IF NOT EXISTS vectors_{{.Space}} (
    tenant    TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (tenant, text_hash)
) STRICT;
