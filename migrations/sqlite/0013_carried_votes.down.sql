-- The longer key serves the release before, too.
SELECT 1;
