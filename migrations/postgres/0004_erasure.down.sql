DROP TABLE sweeps;
DROP TABLE destroyed_texts;
DROP TABLE erasures;
