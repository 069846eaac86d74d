DROP TABLE directories;
