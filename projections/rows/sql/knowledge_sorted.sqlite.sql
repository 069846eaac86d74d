CREATE INDEX knowledge_{{.}}_judged ON knowledge_{{.}} (tenant, number)
    WHERE version > 1 OR harmful > 0 OR confidence <> 0.5;
CREATE INDEX knowledge_{{.}}_updated ON knowledge_{{.}} (tenant, updated_at, number);
