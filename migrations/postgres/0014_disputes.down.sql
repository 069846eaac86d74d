DROP INDEX proposals_of_item;
