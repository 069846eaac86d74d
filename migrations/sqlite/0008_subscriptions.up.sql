-- Deliveries to webhooks: a row per subscription and event that matches it. They hold no text. The transaction that
-- writes a row also moves the checkpoint of the follower, so each exists once.
CREATE TABLE deliveries (
    tenant       TEXT NOT NULL,
    subscription TEXT NOT NULL,
    position     INTEGER NOT NULL, -- of the event
    event_id     TEXT NOT NULL,
    state        TEXT NOT NULL, -- pending, delivered, dead or dropped
    attempts     INTEGER NOT NULL DEFAULT 0,
    next_at      TEXT NOT NULL, -- of the next attempt
    status       INTEGER NOT NULL DEFAULT 0, -- of the newest answer; 0 without one
    error        TEXT NOT NULL DEFAULT '', -- why the newest attempt failed; never what was received
    at           TEXT NOT NULL, -- since when it is pending
    PRIMARY KEY (tenant, subscription, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending';

-- The secrets by which webhooks are signed. They are not in the log. The transaction of the follower deletes them
-- after the end of their subscription.
CREATE TABLE webhook_secrets (
    tenant       TEXT NOT NULL,
    subscription TEXT NOT NULL,
    secret       TEXT NOT NULL,
    previous     TEXT NOT NULL DEFAULT '', -- signs, too, until the time that follows
    until        TEXT NOT NULL,
    PRIMARY KEY (tenant, subscription)
) STRICT, WITHOUT ROWID;
