DROP INDEX streams_erasures;
DROP INDEX requests_stream;
DROP TABLE sweeps;
DROP TABLE erasures;
