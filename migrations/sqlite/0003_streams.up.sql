-- What the streams of things other than knowledge have come to: plain fields alone, never what people
-- wrote. It is written with every append to such a stream, so that an append costs the same however
-- long its stream is, and can be thrown away: what is missing is computed again from the events.
CREATE TABLE streams (
    tenant   TEXT NOT NULL,
    stream   TEXT NOT NULL,
    version  INTEGER NOT NULL, -- of its newest event
    position INTEGER NOT NULL, -- of its newest event
    form     INTEGER NOT NULL, -- of the state; one in another form is computed again
    state    TEXT NOT NULL,
    PRIMARY KEY (tenant, stream)
) STRICT, WITHOUT ROWID;
