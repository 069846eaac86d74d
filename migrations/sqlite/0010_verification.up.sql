-- The confirmations of each item, so that the newest tells who verified it.
CREATE INDEX events_confirmed ON events (tenant, stream, version)
WHERE name = 'knowledge.confirmed';
-- The deactivations of members, whose items need another owner.
CREATE INDEX events_deactivated ON events (tenant, stream, version)
WHERE name IN ('directory.deactivated', 'directory.reactivated');
