-- Plans with their standing, the targets that they hold, and the audit trail as a chain of hashes.
-- Empty text stands for "there is none".

CREATE TABLE plans (
    id           TEXT   NOT NULL PRIMARY KEY,
    thread       TEXT   NOT NULL REFERENCES threads (id),
    -- The canonical bytes, and their SHA-256: what was shown and what is approved.
    body         TEXT   NOT NULL,
    digest       TEXT   NOT NULL,
    target       TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('pending', 'approved', 'executing', 'unverified', 'unknown', 'verified',
                                                  'denied', 'expired', 'cancelled', 'refused', 'failed')),
    code         TEXT   NOT NULL,
    outcome      TEXT   NOT NULL CHECK (outcome IN ('', 'as_expected', 'differs', 'absent')),
    -- Who decided, when and how, as JSON.
    decided      TEXT   NOT NULL,
    over_at      BIGINT,
    looks        BIGINT NOT NULL CHECK (looks >= 0),
    next_look    BIGINT,
    -- Rises with each move; a move names the version that it starts from.
    version      BIGINT NOT NULL CHECK (version >= 0),
    -- The id of the move made last, so that a step committed again is known.
    last_move    TEXT   NOT NULL,
    requested_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    CHECK ((state = 'refused') = (code <> '')),
    CHECK ((state = 'verified') = (outcome <> '')),
    -- Nothing is carried out that nobody has decided.
    CHECK (state IN ('pending', 'expired', 'cancelled') OR decided <> '')
);

CREATE INDEX plans_open ON plans (thread, requested_at, id)
    WHERE state IN ('pending', 'approved', 'executing', 'unverified', 'unknown');

-- One write in flight per target: the plan that was, or may have been, begun and is not verified.
CREATE TABLE writes_in_flight (
    target TEXT NOT NULL PRIMARY KEY,
    plan   TEXT NOT NULL UNIQUE REFERENCES plans (id)
);

-- Append-only. `hash` is over the other five columns, and `prev` is the hash of the row before.
CREATE TABLE audit_chain (
    seq          BIGINT NOT NULL PRIMARY KEY CHECK (seq > 0),
    id           TEXT   NOT NULL UNIQUE,
    at           BIGINT NOT NULL,
    payload_hash TEXT   NOT NULL,
    prev         TEXT   NOT NULL,
    hash         TEXT   NOT NULL
);

-- What the rows say. A row here may be deleted: the chain stays whole and counts it.
CREATE TABLE audit_payloads (
    id   TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
);

-- The newest row of the chain, locked by whoever appends.
CREATE TABLE audit_head (
    one  BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT NOT NULL CHECK (seq >= 0),
    hash TEXT   NOT NULL
);

INSERT INTO audit_head (one, seq, hash)
VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
