CREATE INDEX proposals_of_item ON proposals (tenant, item, kind, is_open);
