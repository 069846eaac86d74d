-- One version of the projection of meaning: the pieces of each item's text, and the sketch of each
-- piece's vector (one bit per dimension), once per scope. A search therefore scans only what its
-- audience may see, from the index alone.
CREATE TABLE meaning_{{.Version}} (
    tenant    text COLLATE "C" NOT NULL,
    scope     text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    piece     integer NOT NULL,
    text_hash bytea NOT NULL,
    sketch    bit({{.Bits}}) NOT NULL,
    PRIMARY KEY (tenant, scope, number, piece) INCLUDE (text_hash, sketch)
);
CREATE INDEX meaning_{{.Version}}_number ON meaning_{{.Version}} (tenant, number);

-- The vectors of a model, by the hash of their text, so that no text is sent to the model twice.
-- Stored plain, because fetching a toasted vector costs more than comparing it.
CREATE TABLE IF NOT EXISTS vectors_{{.Space}} (
    tenant    text COLLATE "C" NOT NULL,
    text_hash bytea NOT NULL,
    vector    halfvec({{.Dims}}) NOT NULL,
    PRIMARY KEY (tenant, text_hash)
);
ALTER TABLE vectors_{{.Space}} ALTER COLUMN vector SET STORAGE PLAIN;
