DROP TABLE directories;
DROP TABLE files;
