DROP TABLE key_uses;
DROP TABLE accesses;
