-- Texts that were destroyed: a row per event whose text it was, computed from the log. Where the event that
-- says so is a redaction, what is left of the text stands beside that event.
CREATE TABLE destroyed_texts (
    tenant   TEXT NOT NULL,
    position INTEGER NOT NULL, -- of the event whose text it was
    said_at  INTEGER NOT NULL, -- position of the newest event that says so
    PRIMARY KEY (tenant, position)
) STRICT, WITHOUT ROWID;

ALTER TABLE erasures ADD COLUMN redaction INTEGER NOT NULL DEFAULT 0; -- 1 if something else stands for the text

-- A text is destroyed when an event of its stream says so, and not otherwise. A trigger here sees one row at a
-- time: it looks for the event, and leaves it to annals verify to read which ones that event names.
DROP TRIGGER event_texts_erased;
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
