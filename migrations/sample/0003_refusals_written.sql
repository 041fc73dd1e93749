-- Rows as version 0003 writes them; every later migration is applied over these.
INSERT INTO refusals_written (minute, platform, actor, kind, audit)
VALUES (0, 'console', '1000', '0c1f5c2dd2a1d9a1f1b2f6e02b7d8f2a3c4d5e6f708192a3b4c5d6e7f8091a2b', 'a-04');
