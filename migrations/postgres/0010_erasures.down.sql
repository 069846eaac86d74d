DROP INDEX streams_erasures;
DROP INDEX requests_stream;
DROP TABLE sweeps;
DROP TABLE erasures;
ALTER TABLE event_texts ALTER COLUMN text SET STATISTICS -1;
ALTER TABLE event_texts ALTER COLUMN salt SET STATISTICS -1;
