CREATE INDEX proposals_of_item ON proposals (tenant, item) WHERE is_open;
