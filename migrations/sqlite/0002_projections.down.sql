DROP TABLE spaces;
DROP TABLE rebuild_slices;
DROP TABLE quarantine;
DROP TABLE leases;
DROP TABLE checkpoints;
DROP TABLE projections;
