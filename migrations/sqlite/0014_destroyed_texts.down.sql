DROP TRIGGER event_texts_erased;
CREATE TRIGGER event_texts_erased BEFORE DELETE ON event_texts
WHEN NOT EXISTS (
    SELECT 1
    FROM events AS e
    JOIN events AS x ON x.tenant = e.tenant AND x.stream = e.stream AND x.version > e.version
    JOIN json_each(x.data, '$.events') AS named ON named.value = e.event_id
    WHERE e.tenant = OLD.tenant AND e.position = OLD.position AND x.name LIKE '%.erased'
)
BEGIN SELECT RAISE(ABORT, 'a text is destroyed only after an event that says so: DELETE is refused'); END;

ALTER TABLE erasures DROP COLUMN redaction;
DROP TABLE destroyed_texts;
