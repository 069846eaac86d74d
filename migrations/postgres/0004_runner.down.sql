ALTER TABLE checkpoints DROP COLUMN quarantines;
DROP TABLE quarantine;
DROP TABLE leases;
