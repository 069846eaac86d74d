DROP INDEX events_failed_extractions;
