CREATE INDEX knowledge_{{.}}_updated ON knowledge_{{.}} (tenant, updated_at, number);
