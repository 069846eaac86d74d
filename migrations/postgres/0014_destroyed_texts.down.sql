CREATE OR REPLACE FUNCTION refuse_unsaid_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
        FROM gone AS g
        LEFT JOIN events AS e ON e.tenant = g.tenant AND e.position = g.position
        WHERE NOT EXISTS (
            SELECT
            FROM events AS x
            CROSS JOIN json_array_elements_text(x.data -> 'events') AS named (event_id)
            WHERE x.tenant = e.tenant AND x.stream = e.stream AND x.version > e.version
              AND x.name LIKE '%.erased' AND named.event_id = e.event_id::text
        )
    ) THEN
        RAISE EXCEPTION 'a text is destroyed only after an event that says so: DELETE is refused'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

ALTER TABLE erasures DROP COLUMN redaction;
DROP TABLE destroyed_texts;
