DROP INDEX streams_open_reviews;
