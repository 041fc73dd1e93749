-- What the sealed rows are as a whole, so that a row that was removed, or put back as it was, is known.

-- The name of this series of changes; another one each time that all rows are sealed anew.
ALTER TABLE seal_key ADD COLUMN series TEXT NOT NULL DEFAULT '';

-- How many commits of this series changed a sealed row.
ALTER TABLE seal_key ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;

-- A seal over each table's sealed rows, one after the other with a blank between.
ALTER TABLE seal_key ADD COLUMN sums TEXT NOT NULL DEFAULT '';

-- Which other changes of a target are under way, asked before each change.
CREATE INDEX plans_target ON plans (target);
