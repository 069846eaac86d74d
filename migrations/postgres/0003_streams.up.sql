-- What the streams of things other than knowledge have come to: plain fields alone, never what people
-- wrote. It is written with every append to such a stream, so that an append costs the same however
-- long its stream is, and can be thrown away: what is missing is computed again from the events.
CREATE TABLE streams (
    tenant   text COLLATE "C" NOT NULL,
    stream   text COLLATE "C" NOT NULL,
    version  bigint NOT NULL, -- of its newest event
    position bigint NOT NULL, -- of its newest event
    form     integer NOT NULL, -- of the state; one in another form is computed again
    state    json NOT NULL,
    PRIMARY KEY (tenant, stream)
);
