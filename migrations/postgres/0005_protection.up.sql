-- The tables of the log are append-only. The triggers protect against mistakes: the owner of a table can
-- drop them. Against people, serve with a role that owns nothing.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is only appended to: % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_texts_append_only BEFORE UPDATE OR TRUNCATE ON event_texts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER tree_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON tree
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER signed_checkpoints_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON signed_checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A text is destroyed only after an event of its stream that erases or redacts it. Deleted texts and named
-- events are grouped, not joined, so that the time is about linear in their number with any plan. EXECUTE
-- makes a plan for each statement: a cached plan would suit the first statement of the connection.
CREATE FUNCTION refuse_unsaid_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    unsaid boolean;
BEGIN
    EXECUTE $query$
        WITH going AS (
            SELECT g.tenant, e.stream, e.version, e.event_id::text AS event_id
            FROM gone AS g
            LEFT JOIN events AS e ON e.tenant = g.tenant AND e.position = g.position
        ),
        named AS (
            SELECT x.tenant, x.stream, x.version, n.event_id
            FROM (SELECT DISTINCT tenant, stream FROM going) AS s
            JOIN events AS x ON x.tenant = s.tenant AND x.stream = s.stream AND (x.name LIKE '%.erased' OR x.name LIKE '%.redacted')
            CROSS JOIN json_array_elements_text(x.data -> 'events') AS n (event_id)
        ),
        compared AS (
            SELECT tenant, stream, event_id, true AS goes, version, NULL::bigint AS said_at
            FROM going
            UNION ALL
            SELECT tenant, stream, event_id, false, NULL, version
            FROM named
        )
        SELECT EXISTS (
            SELECT
            FROM compared
            GROUP BY tenant, stream, event_id
            HAVING bool_or(goes) AND (max(said_at) > max(version)) IS NOT TRUE
        )
    $query$ INTO unsaid;
    IF unsaid THEN
        RAISE EXCEPTION 'a text is destroyed only after an event that says so: DELETE is refused'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER event_texts_erased AFTER DELETE ON event_texts
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_unsaid_erasure();

-- Row-level security of a table: a role that does not own the log sees the rows of the tenant in the
-- setting annals.tenant, all rows if the setting is *, and no row without it. This includes the owner of
-- the table: the serving role owns the tables of projections.
--
-- CASE hides the comparison from the planner. A plain equality would count twice in its estimates, once
-- here and once in the query.
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
