-- What a rebuild found out when it verified a version; NULL until it did.
ALTER TABLE projections ADD COLUMN report TEXT;

-- How far a rebuild has come: the ranges of streams it loads, and when each was loaded, so that it
-- goes on there when it is started again. after is the stream before the first.
CREATE TABLE rebuild_slices (
    projection TEXT NOT NULL,
    version    INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    after      TEXT NOT NULL,
    through    TEXT NOT NULL,
    streams    INTEGER NOT NULL,
    events     INTEGER,
    loaded_at  TEXT,
    PRIMARY KEY (projection, version, tenant, after)
) STRICT, WITHOUT ROWID;
