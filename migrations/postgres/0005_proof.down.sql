DELETE FROM checkpoints WHERE projection IN ('proof', 'proof_signed');
DROP TRIGGER event_texts_erased ON event_texts;
DROP TRIGGER event_texts_append_only ON event_texts;
DROP TRIGGER events_append_only ON events;
DROP TABLE signed_checkpoints;
DROP TABLE tree;
DROP FUNCTION refuse_unsaid_erasure();
DROP FUNCTION refuse_change();
