-- The indexes of a version of the knowledge projection. Keys are part of the tables. They are created
-- before the rows: creating an index of a large table would block all writers.

CREATE UNIQUE INDEX knowledge_{{.}}_number ON knowledge_{{.}} (tenant, number);
CREATE UNIQUE INDEX knowledge_{{.}}_uri ON knowledge_{{.}} (tenant, uri)
    WHERE status IN ('active', 'superseded');
CREATE INDEX knowledge_{{.}}_gone ON knowledge_{{.}} (tenant, number)
    WHERE status IN ('deleted', 'erased');
CREATE INDEX knowledge_{{.}}_withheld ON knowledge_{{.}} (tenant, number)
    WHERE status IN ('quarantined', 'proposed');
CREATE INDEX knowledge_{{.}}_stale ON knowledge_{{.}} (tenant, number)
    WHERE stale_reporters > 0 OR confirm_until IS NOT NULL;
CREATE INDEX knowledge_{{.}}_harmful ON knowledge_{{.}} (tenant, number) WHERE harmful > 0;
CREATE INDEX knowledge_{{.}}_judged ON knowledge_{{.}} (tenant, number)
    WHERE version > 1 OR harmful > 0 OR confidence <> 0.5;
CREATE INDEX knowledge_{{.}}_updated ON knowledge_{{.}} (tenant, updated_at, number);
CREATE INDEX knowledge_{{.}}_verified ON knowledge_{{.}} (tenant, coalesce(confirmed_at, created_at), number)
    WHERE status = 'active';
CREATE INDEX knowledge_{{.}}_derived ON knowledge_{{.}} (tenant, number) WHERE derived_from <> '[]';
CREATE INDEX knowledge_{{.}}_replaced ON knowledge_{{.}} (tenant, superseded_by) WHERE superseded_by <> '';
CREATE INDEX knowledge_{{.}}_owner ON knowledge_{{.}} (tenant, owner, number);
CREATE UNIQUE INDEX knowledge_{{.}}_votes_ballot ON knowledge_{{.}}_votes (tenant, id, voter, ballot);
CREATE INDEX knowledge_{{.}}_votes_newest ON knowledge_{{.}}_votes (tenant, id, verdict, at, event_id);
