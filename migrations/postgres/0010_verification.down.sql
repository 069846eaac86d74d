DROP INDEX events_deactivated;
DROP INDEX events_confirmed;
