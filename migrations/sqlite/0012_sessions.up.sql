-- The commits of sessions, the newest first: each is a task.
CREATE INDEX events_commits ON events (tenant, position)
WHERE name = 'session.committed';
-- The archives of one session, and what was made of each.
CREATE INDEX events_archives ON events (tenant, stream, version)
WHERE name IN ('session.committed', 'session.extracted', 'session.extraction_failed');
