-- A signal whose work the end of the process cut short: how often that happened, and when the signal was set aside for it.

ALTER TABLE inbox ADD COLUMN interruptions BIGINT NOT NULL DEFAULT 0;

-- Of a signal that is still worked on, or was answered, nothing.
ALTER TABLE inbox ADD COLUMN set_aside_at BIGINT;

CREATE INDEX inbox_set_aside ON inbox (set_aside_at) WHERE set_aside_at IS NOT NULL;
