DROP TABLE rebuild_slices;
ALTER TABLE projections DROP COLUMN report;
