-- Rows as version 0007 writes them; every later migration is applied over these.
INSERT INTO outbox (id, signal, n, thread, place, lane, body, state, attempts, repeat, created_at, not_before, settled_at, platform_ids, error, plan)
VALUES ('p-03', 's-02', 1, 's-01', 3, 0, '{}', 'sent', 1, 0, 3100, 3100, 3150, '["8","9"]', '', '00000000000000000000000000000004');

INSERT INTO messages (platform, account, event, post, part)
VALUES ('console', 'local', '7', 'p-01', 0),
       ('console', 'local', '8', 'p-03', 0),
       ('console', 'local', '9', 'p-03', 1);

INSERT INTO cards (plan, body, version, shown)
VALUES ('00000000000000000000000000000004', '{}', 2, 1);
