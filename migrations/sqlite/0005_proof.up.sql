-- The Merkle tree (RFC 6962) over each tenant's log: its leaves and the nodes above them, in the
-- order in which they come into being. A row holds those of some consecutive events; rows are only
-- ever inserted.
CREATE TABLE tree (
    tenant TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0), -- of the row's first hash: 0, 1, 2 …
    size   INTEGER NOT NULL CHECK (size > 0),    -- events that the tree has with this row
    hashes BLOB NOT NULL,                        -- 32 bytes each
    PRIMARY KEY (tenant, number)
) STRICT;

-- What was signed about the tree: that it had this root when it had so many events.
CREATE TABLE signed_checkpoints (
    tenant    TEXT NOT NULL,
    size      INTEGER NOT NULL CHECK (size > 0),
    signer    TEXT NOT NULL, -- name and number of the key
    note      TEXT NOT NULL,
    signed_at TEXT NOT NULL,
    PRIMARY KEY (tenant, size, signer)
) STRICT;

-- The log is appended to, and nothing else. Whoever has the file can take the triggers away: this
-- is a wall against mistakes.
CREATE TRIGGER events_append_only BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events is only appended to: UPDATE is refused'); END;
CREATE TRIGGER events_append_only_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events is only appended to: DELETE is refused'); END;
CREATE TRIGGER event_texts_append_only BEFORE UPDATE ON event_texts
BEGIN SELECT RAISE(ABORT, 'event_texts is only appended to: UPDATE is refused'); END;
CREATE TRIGGER tree_append_only BEFORE UPDATE ON tree
BEGIN SELECT RAISE(ABORT, 'tree is only appended to: UPDATE is refused'); END;
CREATE TRIGGER tree_append_only_delete BEFORE DELETE ON tree
BEGIN SELECT RAISE(ABORT, 'tree is only appended to: DELETE is refused'); END;
CREATE TRIGGER signed_checkpoints_append_only BEFORE UPDATE ON signed_checkpoints
BEGIN SELECT RAISE(ABORT, 'signed_checkpoints is only appended to: UPDATE is refused'); END;
CREATE TRIGGER signed_checkpoints_append_only_delete BEFORE DELETE ON signed_checkpoints
BEGIN SELECT RAISE(ABORT, 'signed_checkpoints is only appended to: DELETE is refused'); END;

-- A text is destroyed when an event of its stream says so, and not otherwise.
CREATE TRIGGER event_texts_erased BEFORE DELETE ON event_texts
WHEN NOT EXISTS (
    SELECT 1
    FROM events AS e
    JOIN events AS x ON x.tenant = e.tenant AND x.stream = e.stream AND x.version > e.version
    JOIN json_each(x.data, '$.events') AS named ON named.value = e.event_id
    WHERE e.tenant = OLD.tenant AND e.position = OLD.position AND x.name LIKE '%.erased'
)
BEGIN SELECT RAISE(ABORT, 'a text is destroyed only after an event that says so: DELETE is refused'); END;
