-- Tokens and cost: one row for each turn that used some, and the sums of a day by who pays.

CREATE TABLE usage_turns (
    -- Made by the writer for one turn, so that a step committed again is known.
    id          TEXT   NOT NULL PRIMARY KEY,
    -- Which request, and its thread.
    signal      TEXT   NOT NULL REFERENCES inbox (id),
    thread      TEXT   NOT NULL REFERENCES threads (id),
    at          BIGINT NOT NULL,
    ground      TEXT   NOT NULL CHECK (ground IN ('foreground', 'background')),
    origin      TEXT   NOT NULL CHECK (origin IN ('rule', 'model')),
    tokens_in   BIGINT NOT NULL CHECK (tokens_in >= 0),
    tokens_out  BIGINT NOT NULL CHECK (tokens_out >= 0),
    -- Millionths of the configured currency.
    cost_micros BIGINT NOT NULL CHECK (cost_micros >= 0)
);

CREATE TABLE usage_days (
    -- Days in UTC since 1970-01-01.
    day         BIGINT NOT NULL,
    payer       TEXT   NOT NULL CHECK (payer IN ('person', 'account', 'room', 'team')),
    -- Empty for a person of the access file, who is the same one everywhere, and for the team.
    platform    TEXT   NOT NULL,
    -- Only of a room.
    space       TEXT   NOT NULL,
    -- The person's name, the account's or the room's id; empty for the team.
    who         TEXT   NOT NULL,
    ground      TEXT   NOT NULL CHECK (ground IN ('foreground', 'background')),
    origin      TEXT   NOT NULL CHECK (origin IN ('rule', 'model')),
    tokens_in   BIGINT NOT NULL CHECK (tokens_in >= 0),
    tokens_out  BIGINT NOT NULL CHECK (tokens_out >= 0),
    cost_micros BIGINT NOT NULL CHECK (cost_micros >= 0),
    PRIMARY KEY (day, payer, platform, space, who, ground, origin)
);
