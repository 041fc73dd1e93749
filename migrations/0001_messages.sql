-- The message path: threads, what was heard, what is to be said, and the record of what was decided.
-- One text for SQLite and Postgres: only TEXT, BIGINT and DOUBLE PRECISION. Times are milliseconds since the Unix epoch;
-- a yes or no is a BIGINT of 0 or 1.

CREATE TABLE threads (
    id           TEXT   NOT NULL PRIMARY KEY,
    platform     TEXT   NOT NULL,
    account      TEXT   NOT NULL,
    space        TEXT   NOT NULL,
    conversation TEXT   NOT NULL,
    root         TEXT   NOT NULL,
    -- How many places in the thread's order of outgoing messages have been given away.
    posts        BIGINT NOT NULL DEFAULT 0 CHECK (posts >= 0),
    UNIQUE (platform, account, space, conversation, root)
);

CREATE TABLE inbox (
    id          TEXT   NOT NULL PRIMARY KEY,
    thread      TEXT   NOT NULL REFERENCES threads (id),
    platform    TEXT   NOT NULL,
    account     TEXT   NOT NULL,
    event       TEXT   NOT NULL,
    body        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('accepted', 'begun', 'done')),
    attempts    BIGINT NOT NULL CHECK (attempts >= 0),
    ending      TEXT   CHECK (ending IN ('answered', 'interrupted', 'failed')),
    received_at BIGINT NOT NULL,
    ended_at    BIGINT,
    UNIQUE (platform, account, event),
    CHECK ((state = 'done') = (ending IS NOT NULL)),
    CHECK ((state = 'done') = (ended_at IS NOT NULL))
);

CREATE INDEX inbox_open ON inbox (received_at) WHERE state <> 'done';

CREATE TABLE outbox (
    id           TEXT   NOT NULL PRIMARY KEY,
    signal       TEXT   NOT NULL REFERENCES inbox (id),
    n            BIGINT NOT NULL CHECK (n >= 0),
    thread       TEXT   NOT NULL REFERENCES threads (id),
    -- The place in the thread's order; later ones wait for earlier ones of the same lane.
    place        BIGINT NOT NULL,
    -- 0 is what a person has to decide, 1 an answer: the smaller leaves first.
    lane         BIGINT NOT NULL CHECK (lane IN (0, 1)),
    body         TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed')),
    attempts     BIGINT NOT NULL CHECK (attempts >= 0),
    -- 1 where an earlier attempt may have come through.
    repeat       BIGINT NOT NULL CHECK (repeat IN (0, 1)),
    created_at   BIGINT NOT NULL,
    not_before   BIGINT NOT NULL,
    -- When the last attempt ended; of a sent message, when it was sent.
    settled_at   BIGINT,
    platform_ids TEXT   NOT NULL,
    error        TEXT   NOT NULL,
    UNIQUE (signal, n),
    UNIQUE (thread, place)
);

CREATE INDEX outbox_open ON outbox (thread, lane, place) WHERE state IN ('pending', 'sending');

-- Append-only. Empty text stands for "there is none".
CREATE TABLE audit (
    id       TEXT   NOT NULL PRIMARY KEY,
    at       BIGINT NOT NULL,
    signal   TEXT   NOT NULL,
    thread   TEXT   NOT NULL,
    platform TEXT   NOT NULL,
    actor    TEXT   NOT NULL,
    what     TEXT   NOT NULL,
    gate     TEXT   NOT NULL,
    code     TEXT   NOT NULL,
    tool     TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    target   TEXT   NOT NULL,
    detail   TEXT   NOT NULL
);

CREATE INDEX audit_at ON audit (at);

-- The same refusal of the same actor within one minute: the first is in `audit`, here is how many there were.
CREATE TABLE refusals (
    minute   BIGINT NOT NULL,
    thread   TEXT   NOT NULL,
    platform TEXT   NOT NULL,
    actor    TEXT   NOT NULL,
    gate     TEXT   NOT NULL,
    code     TEXT   NOT NULL,
    tool     TEXT   NOT NULL,
    action   TEXT   NOT NULL,
    times    BIGINT NOT NULL CHECK (times > 0),
    -- The audit id counted last, so that a step committed again does not count again.
    last     TEXT   NOT NULL,
    PRIMARY KEY (minute, thread, platform, actor, gate, code, tool, action)
);
