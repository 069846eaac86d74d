DELETE FROM checkpoints WHERE projection IN ('proof', 'proof_signed');
DROP TRIGGER event_texts_erased;
DROP TRIGGER event_texts_append_only;
DROP TRIGGER events_append_only_delete;
DROP TRIGGER events_append_only;
DROP TABLE signed_checkpoints;
DROP TABLE tree;
