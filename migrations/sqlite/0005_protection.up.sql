-- The tables of the log are append-only. The triggers protect against mistakes: a user who can write
-- the file can drop them.
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

-- A text is destroyed only after an event of its stream that erases or redacts it. The trigger sees one
-- row at a time and looks for such an event; annals verify checks which texts the event names.
CREATE TRIGGER event_texts_erased BEFORE DELETE ON event_texts
WHEN NOT EXISTS (
    SELECT 1
    FROM destroyed_texts AS d
    JOIN events AS e ON e.tenant = d.tenant AND e.position = d.position
    JOIN events AS x ON x.tenant = d.tenant AND x.position = d.said_at
    WHERE d.tenant = OLD.tenant AND d.position = OLD.position AND x.stream = e.stream AND x.version > e.version
      AND (x.name LIKE '%.erased' OR x.name LIKE '%.redacted')
)
BEGIN SELECT RAISE(ABORT, 'a text is destroyed only after an event that says so: DELETE is refused'); END;
