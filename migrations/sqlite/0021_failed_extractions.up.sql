-- Archives of which nothing could be made: they are tried again.
CREATE INDEX events_failed_extractions ON events (tenant, position)
WHERE name = 'session.extraction_failed';
