-- What was delivered, by the platform's own ids, and what the card of a plan shows by now.

-- Every part of a message that is out: an answer, a press or a reaction names it by these ids.
CREATE TABLE messages (
    platform TEXT   NOT NULL,
    account  TEXT   NOT NULL,
    -- As the platform names it in an event.
    event    TEXT   NOT NULL,
    post     TEXT   NOT NULL REFERENCES outbox (id),
    -- From 0, in the order in which the parts were sent.
    part     BIGINT NOT NULL CHECK (part >= 0),
    PRIMARY KEY (platform, account, event)
);

CREATE INDEX messages_post ON messages (post, part);

-- The plan whose card a message is; of any other message nothing.
ALTER TABLE outbox ADD COLUMN plan TEXT;

CREATE INDEX outbox_plan ON outbox (plan) WHERE plan IS NOT NULL;

-- The latest face of a plan's card. There is no row before it first changes.
CREATE TABLE cards (
    plan    TEXT   NOT NULL PRIMARY KEY REFERENCES plans (id),
    -- The message that is to stand in the place of the card, as JSON.
    body    TEXT   NOT NULL,
    -- Rises by one with each change.
    version BIGINT NOT NULL CHECK (version > 0),
    -- The version that was shown, or that nobody can be shown; 0 where none was.
    shown   BIGINT NOT NULL DEFAULT 0 CHECK (shown >= 0 AND shown <= version)
);

CREATE INDEX cards_open ON cards (plan) WHERE shown < version;
