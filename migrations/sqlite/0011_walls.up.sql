-- What the migration of this number makes on PostgreSQL, row-level security, there is not here: that every
-- statement names its tenant is the only wall.
SELECT 1;
