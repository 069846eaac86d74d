-- What a rebuild found out when it verified a version; NULL until it did.
ALTER TABLE projections ADD COLUMN report json;

-- How far a rebuild has come: the ranges of streams it loads, and when each was loaded, so that it
-- goes on there when it is started again. after is the stream before the first.
CREATE TABLE rebuild_slices (
    projection text COLLATE "C" NOT NULL,
    version    integer NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    after      text COLLATE "C" NOT NULL,
    through    text COLLATE "C" NOT NULL,
    streams    bigint NOT NULL,
    events     bigint,
    loaded_at  timestamptz,
    PRIMARY KEY (projection, version, tenant, after)
);
