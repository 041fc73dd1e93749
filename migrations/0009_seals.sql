-- Seals: what a row says that decides something, under a key that is not in the database. Empty: not sealed.

-- Over what was asked for and approved, and over how it stands.
ALTER TABLE plans ADD COLUMN frozen_seal TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN seal TEXT NOT NULL DEFAULT '';

ALTER TABLE ledger ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- As long as the signal's request has not ended.
ALTER TABLE inbox ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- Over the message, and over the platform's ids of its parts once it is out.
ALTER TABLE outbox ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN sent_seal TEXT NOT NULL DEFAULT '';

ALTER TABLE audit_head ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- By which key the rows are sealed: its seal over nothing.
CREATE TABLE seal_key (
    one  BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    mark TEXT   NOT NULL
);

ALTER TABLE votes ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- Over the plan and what its card shows.
ALTER TABLE cards ADD COLUMN seal TEXT NOT NULL DEFAULT '';
