-- Which refusal of an actor within a minute has a row of its own in the audit chain. `refusals` goes on counting all of them.

CREATE TABLE refusals_written (
    minute   BIGINT NOT NULL,
    platform TEXT   NOT NULL,
    actor    TEXT   NOT NULL,
    -- The SHA-256 of what makes two refusals the same one: thread, gate, code, tool, action, target, plan and reason.
    kind     TEXT   NOT NULL,
    -- The id of the row in `audit_chain` that stands for it.
    audit    TEXT   NOT NULL,
    PRIMARY KEY (minute, platform, actor, kind)
);
