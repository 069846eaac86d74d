DROP TABLE purges;
DROP TABLE destroyed_texts;
DROP TABLE erasures;
