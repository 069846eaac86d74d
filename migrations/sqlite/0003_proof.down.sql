DROP TABLE signed_checkpoints;
DROP TABLE tree;
