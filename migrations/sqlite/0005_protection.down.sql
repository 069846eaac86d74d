DROP TRIGGER events_append_only;
DROP TRIGGER events_append_only_delete;
DROP TRIGGER event_texts_append_only;
DROP TRIGGER tree_append_only;
DROP TRIGGER tree_append_only_delete;
DROP TRIGGER signed_checkpoints_append_only;
DROP TRIGGER signed_checkpoints_append_only_delete;
DROP TRIGGER event_texts_erased;
