-- A merge carries a vote, so several items may have a vote with the same event.
DO $$
DECLARE
    votes regclass;
BEGIN
    FOR votes IN
        SELECT conrelid
        FROM pg_constraint
        WHERE contype = 'p' AND conname ~ '^knowledge_[0-9]+_votes_pkey$' AND connamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %2$I PRIMARY KEY (tenant, event_id, id)',
            votes, (SELECT relname FROM pg_class WHERE oid = votes) || '_pkey');
    END LOOP;
END $$;
