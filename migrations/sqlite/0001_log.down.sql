DROP TABLE spaces;
DROP TABLE projections;
DROP TABLE checkpoints;
DROP TABLE requests;
DROP TABLE event_texts;
DROP TABLE events;
