DROP TABLE key_uses;
DROP INDEX streams_keys;
