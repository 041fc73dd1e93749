-- The end of the time to decide a plan whose card came out late, in milliseconds since 1970. Sealed with its status.
ALTER TABLE plans ADD COLUMN decide_by BIGINT;
