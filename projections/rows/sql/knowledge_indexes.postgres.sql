-- The keys and indexes of a version of the knowledge projection, created after its rows, because
-- a bulk load would update them with every row.

ALTER TABLE knowledge_{{.}} ADD CONSTRAINT knowledge_{{.}}_pkey PRIMARY KEY (tenant, id);
CREATE UNIQUE INDEX knowledge_{{.}}_number ON knowledge_{{.}} (tenant, number);
CREATE UNIQUE INDEX knowledge_{{.}}_uri ON knowledge_{{.}} (tenant, uri)
    WHERE status IN ('active', 'superseded');
CREATE INDEX knowledge_{{.}}_gone ON knowledge_{{.}} (tenant, number)
    WHERE status IN ('deleted', 'erased');
CREATE INDEX knowledge_{{.}}_withheld ON knowledge_{{.}} (tenant, number)
    WHERE status IN ('quarantined', 'proposed');
CREATE INDEX knowledge_{{.}}_stale ON knowledge_{{.}} (tenant, number)
    WHERE stale_reporters > 0 OR confirm_until IS NOT NULL;
CREATE INDEX knowledge_{{.}}_updated ON knowledge_{{.}} (tenant, updated_at, number);
CREATE INDEX knowledge_{{.}}_verified ON knowledge_{{.}} (tenant, coalesce(confirmed_at, created_at), number)
    WHERE status = 'active';
CREATE INDEX knowledge_{{.}}_derived ON knowledge_{{.}} (tenant, number) WHERE json_array_length(derived_from) > 0;
CREATE INDEX knowledge_{{.}}_replaced ON knowledge_{{.}} (tenant, superseded_by) WHERE superseded_by <> '';
CREATE INDEX knowledge_{{.}}_owner ON knowledge_{{.}} (tenant, owner, number);
ALTER TABLE knowledge_{{.}}_votes ADD CONSTRAINT knowledge_{{.}}_votes_pkey PRIMARY KEY (tenant, event_id, id); -- a merge carries votes
CREATE UNIQUE INDEX knowledge_{{.}}_votes_ballot ON knowledge_{{.}}_votes (tenant, id, voter, ballot);
CREATE INDEX knowledge_{{.}}_votes_newest ON knowledge_{{.}}_votes (tenant, id, verdict, at, event_id);
ALTER TABLE knowledge_{{.}}_reports ADD CONSTRAINT knowledge_{{.}}_reports_pkey PRIMARY KEY (tenant, id, reporter);

-- A server role that does not own the log sees the texts of one tenant at a time. Postings and changes have no such
-- policy, because it would prevent the use of indexes for conditions that are not leakproof. Every search joins
-- these tables in the end.
SELECT confine_to_tenant(content)
FROM unnest(ARRAY['knowledge_{{.}}', 'knowledge_{{.}}_votes', 'knowledge_{{.}}_reports']::regclass[]) AS content
WHERE (SELECT relrowsecurity FROM pg_class WHERE oid = 'events'::regclass);
