-- A webhook is posted to in the order of the log. While an attempt fails, all its deliveries wait, so the time of the
-- next attempt is kept once for each webhook, beside its secret.
ALTER TABLE webhook_secrets ADD COLUMN failures INTEGER NOT NULL DEFAULT 0; -- since the newest success
ALTER TABLE webhook_secrets ADD COLUMN next_at TEXT NOT NULL DEFAULT '1970-01-01T00:00:00.000000Z'; -- of the next attempt
CREATE INDEX webhook_secrets_next ON webhook_secrets (next_at);
DROP INDEX deliveries_due;
ALTER TABLE deliveries DROP COLUMN next_at;
CREATE INDEX deliveries_pending ON deliveries (tenant, subscription, position) WHERE state = 'pending';
CREATE INDEX deliveries_finished ON deliveries (at) WHERE state <> 'pending';

-- Every secret that was replaced signs for a while, however often it is replaced.
CREATE TABLE former_secrets (
    tenant       TEXT NOT NULL,
    subscription TEXT NOT NULL,
    secret       TEXT NOT NULL,
    until        TEXT NOT NULL,
    PRIMARY KEY (tenant, subscription, secret)
) STRICT, WITHOUT ROWID;
INSERT INTO former_secrets (tenant, subscription, secret, until)
SELECT tenant, subscription, previous, until
FROM webhook_secrets
WHERE previous <> '';
ALTER TABLE webhook_secrets DROP COLUMN previous;
ALTER TABLE webhook_secrets DROP COLUMN until;
