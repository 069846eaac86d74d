DROP INDEX events_archives;
DROP INDEX events_commits;
