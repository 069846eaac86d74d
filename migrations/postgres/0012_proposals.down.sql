DROP TABLE proposals;
CREATE INDEX streams_open_reviews ON streams (tenant, position)
    WHERE stream >= 'review:' AND stream < 'review;' AND state ->> 'outcome' IS NULL;
