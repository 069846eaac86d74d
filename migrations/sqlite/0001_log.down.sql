DROP TABLE streams;
DROP TABLE requests;
DROP TABLE event_texts;
DROP TABLE events;
