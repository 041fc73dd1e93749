-- Who has countersigned a plan, where more than one person has to, and what happened while it waited.

-- Append-only: nothing in the program changes or deletes a row (a test reads its SQL). A person counts once for a plan.
CREATE TABLE votes (
    plan     TEXT   NOT NULL REFERENCES plans (id),
    -- From 0, in the order in which they came.
    n        BIGINT NOT NULL CHECK (n >= 0),
    -- Whose account it was then.
    person   TEXT   NOT NULL,
    -- The account, by platform and immutable id.
    platform TEXT   NOT NULL CHECK (platform <> ''),
    actor    TEXT   NOT NULL CHECK (actor <> ''),
    -- The vote, as JSON.
    body     TEXT   NOT NULL,
    PRIMARY KEY (plan, n),
    UNIQUE (plan, person)
);

-- 1 where the people of the plan were reminded.
ALTER TABLE plans ADD COLUMN reminded BIGINT NOT NULL DEFAULT 0 CHECK (reminded IN (0, 1));

-- How many escalations there were.
ALTER TABLE plans ADD COLUMN level BIGINT NOT NULL DEFAULT 0 CHECK (level >= 0);

-- Why it fell away without a decision; empty where it did not.
ALTER TABLE plans ADD COLUMN withdrawn TEXT NOT NULL DEFAULT '' CHECK (withdrawn IN ('', 'edited', 'deleted', 'unreachable'));
