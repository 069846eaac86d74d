-- A merge carries a vote, so several items may have a vote with the same event. The key of SQLite begins with the item.
SELECT 1;
