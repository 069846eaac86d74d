ALTER TABLE webhook_secrets ADD COLUMN previous text NOT NULL DEFAULT '';
ALTER TABLE webhook_secrets ADD COLUMN until timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00.000000Z';
DROP TABLE former_secrets;

DROP INDEX deliveries_finished;
DROP INDEX deliveries_pending;
ALTER TABLE deliveries ADD COLUMN next_at timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00.000000Z';
CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending';
DROP INDEX webhook_secrets_next;
ALTER TABLE webhook_secrets DROP COLUMN next_at;
ALTER TABLE webhook_secrets DROP COLUMN failures;
