-- Deliveries to webhooks: a row per subscription and event that matches it. They hold no text. The transaction that
-- writes a row also moves the checkpoint of the follower, so each exists once.
CREATE TABLE deliveries (
    tenant       text COLLATE "C" NOT NULL,
    subscription text COLLATE "C" NOT NULL,
    position     bigint NOT NULL, -- of the event
    event_id     uuid NOT NULL,
    state        text COLLATE "C" NOT NULL, -- pending, delivered, dead or dropped
    attempts     integer NOT NULL DEFAULT 0,
    next_at      timestamptz NOT NULL, -- of the next attempt
    status       integer NOT NULL DEFAULT 0, -- of the newest answer; 0 without one
    error        text NOT NULL DEFAULT '', -- why the newest attempt failed; never what was received
    at           timestamptz NOT NULL, -- since when it is pending
    PRIMARY KEY (tenant, subscription, position)
);
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending';

-- The secrets by which webhooks are signed. They are not in the log. The transaction of the follower deletes them
-- after the end of their subscription.
CREATE TABLE webhook_secrets (
    tenant       text COLLATE "C" NOT NULL,
    subscription text COLLATE "C" NOT NULL,
    secret       text NOT NULL,
    previous     text NOT NULL DEFAULT '', -- signs, too, until the time that follows
    until        timestamptz NOT NULL,
    PRIMARY KEY (tenant, subscription)
);
