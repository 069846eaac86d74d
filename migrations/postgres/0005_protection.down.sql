DROP TRIGGER events_append_only ON events;
DROP TRIGGER event_texts_append_only ON event_texts;
DROP TRIGGER tree_append_only ON tree;
DROP TRIGGER signed_checkpoints_append_only ON signed_checkpoints;
DROP TRIGGER event_texts_erased ON event_texts;
DROP FUNCTION refuse_change();
DROP FUNCTION refuse_unsaid_erasure();
DROP FUNCTION confine_to_tenant(regclass);
