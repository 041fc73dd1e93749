-- What people wrote down in chat about who may what: linked accounts, open codes, permissions. A row that was taken away
-- stays with an empty body, so that its version goes on rising.

CREATE TABLE ledger (
    -- What kind of row and which, as canonical JSON.
    id          TEXT   NOT NULL PRIMARY KEY,
    -- Rises with each change; a change names the version that it starts from.
    version     BIGINT NOT NULL CHECK (version >= 0),
    -- What it says, as JSON.
    body        TEXT   NOT NULL,
    -- The id of the change made last, so that a step committed again is known.
    last_change TEXT   NOT NULL
);
