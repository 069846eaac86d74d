-- One version of the projection of meaning: the pieces of each item's text, and the sketch of each
-- piece's vector (one bit per dimension). Searches read them into memory and scan them there. The
-- columns are in an order that needs little padding.
CREATE TABLE meaning_{{.Version}} (
    number    bigint NOT NULL,
    piece     integer NOT NULL,
    tenant    text COLLATE "C" NOT NULL,
    scope     text COLLATE "C" NOT NULL, -- empty; tables of earlier versions have a row for each scope of a piece
    text_hash bytea NOT NULL,
    sketch    bit({{.Bits}}) NOT NULL,
    PRIMARY KEY (tenant, number, piece)
);

-- The vectors of a model, by the hash of their text, so that no text is sent to the model twice.
-- Stored plain, because fetching a toasted vector costs more than comparing it.
CREATE TABLE IF NOT EXISTS vectors_{{.Space}} (
    tenant    text COLLATE "C" NOT NULL,
    text_hash bytea NOT NULL,
    vector    halfvec({{.Dims}}) NOT NULL,
    PRIMARY KEY (tenant, text_hash)
);
ALTER TABLE vectors_{{.Space}} ALTER COLUMN vector SET STORAGE PLAIN;
