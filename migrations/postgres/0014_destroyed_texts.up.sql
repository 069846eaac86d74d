-- Texts that were destroyed: a row per event whose text it was, computed from the log. Where the event that
-- says so is a redaction, what is left of the text stands beside that event.
CREATE TABLE destroyed_texts (
    tenant   text COLLATE "C" NOT NULL,
    position bigint NOT NULL, -- of the event whose text it was
    said_at  bigint NOT NULL, -- position of the newest event that says so
    PRIMARY KEY (tenant, position)
);

ALTER TABLE erasures ADD COLUMN redaction boolean NOT NULL DEFAULT false; -- something else stands for the text

-- A text is destroyed when an event of its stream says so, and not otherwise. What goes and what those events
-- name are grouped and not joined: time is about linear in their number, whatever plan is made. EXECUTE plans
-- for the texts that go now: a plan that was kept would suit those that went first on this connection.
CREATE OR REPLACE FUNCTION refuse_unsaid_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
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
