-- Lets whoever does not own the log see the rows of one tenant alone in a table: of the one that the
-- setting annals.tenant names, or of all if it says *. Without it nothing is seen. Who owns the table and
-- not the log is no exception: the tables of projections belong to the role that serves.
--
-- CASE, because the planner then takes the condition for what it is, a test that rows pass: an equality
-- would make it believe that rows are rare which are of one tenant twice.
CREATE FUNCTION confine_to_tenant(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP POLICY IF EXISTS one_tenant ON %s', target);
    EXECUTE format('CREATE POLICY one_tenant ON %s USING ('
        'CASE current_setting(''annals.tenant'', true) WHEN tenant THEN true WHEN ''*'' THEN true ELSE false END)', target);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    IF (SELECT relowner FROM pg_class WHERE oid = target) <> (SELECT relowner FROM pg_class WHERE oid = 'events'::regclass) THEN
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
    END IF;
END $$;
