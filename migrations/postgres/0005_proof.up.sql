-- The Merkle tree (RFC 6962) over each tenant's log: its leaves and the nodes above them, in the
-- order in which they come into being. A row holds those of some consecutive events; rows are only
-- ever inserted.
CREATE TABLE tree (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL CHECK (number >= 0), -- of the row's first hash: 0, 1, 2 …
    size   bigint NOT NULL CHECK (size > 0),    -- events that the tree has with this row
    hashes bytea NOT NULL,                      -- 32 bytes each
    PRIMARY KEY (tenant, number)
);
ALTER TABLE tree ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes cannot be compressed

-- What was signed about the tree: that it had this root when it had so many events.
CREATE TABLE signed_checkpoints (
    tenant    text COLLATE "C" NOT NULL,
    size      bigint NOT NULL CHECK (size > 0),
    signer    text COLLATE "C" NOT NULL, -- name and number of the key
    note      text NOT NULL,
    signed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, size, signer)
);

-- The log is appended to, and nothing else. Whoever owns a table can take its triggers away: this
-- is a wall against mistakes, and a role that owns nothing is the one against people.
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

-- A text is destroyed when an event of its stream says so, and not otherwise.
CREATE FUNCTION refuse_unsaid_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER event_texts_erased AFTER DELETE ON event_texts
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_unsaid_erasure();
