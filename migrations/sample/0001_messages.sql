-- Rows as version 0001 writes them; every later migration is applied over these.
INSERT INTO threads (id, platform, account, space, conversation, root, posts)
VALUES ('s-01', 'console', 'local', '', 'terminal', 'main', 2);

INSERT INTO inbox (id, thread, platform, account, event, body, state, attempts, ending, received_at, ended_at)
VALUES ('s-01', 's-01', 'console', 'local', '1',
        '{"id":"s-01","event":"1","thread":{"platform":"console","account":"local","space":"","conversation":"terminal","root":"main"},"room":"direct","actor":{"id":"1000","kind":"human","display":"Ada"},"addressed":"direct","payload":{"type":"text","text":"load"},"depth":0,"ground":"foreground","received_at":1000}',
        'done', 1, 'answered', 1000, 1200),
       ('s-02', 's-01', 'console', 'local', '2',
        '{"id":"s-02","event":"2","thread":{"platform":"console","account":"local","space":"","conversation":"terminal","root":"main"},"room":"direct","actor":{"id":"1000","kind":"human","display":"Ada"},"addressed":"direct","payload":{"type":"text","text":"disk"},"depth":0,"ground":"foreground","received_at":2000}',
        'begun', 1, NULL, 2000, NULL);

INSERT INTO outbox (id, signal, n, thread, place, lane, body, state, attempts, repeat, created_at, not_before, settled_at, platform_ids, error)
VALUES ('p-01', 's-01', 0, 's-01', 1, 1, '{}', 'sent', 1, 0, 1100, 1100, 1150, '["7"]', ''),
       ('p-02', 's-02', 0, 's-01', 2, 0, '{}', 'sending', 1, 0, 2100, 2100, NULL, '[]', '');

INSERT INTO audit (id, at, signal, thread, platform, actor, what, gate, code, tool, action, target, detail)
VALUES ('a-01', 1100, 's-01', 's-01', 'console', '1000', 'refused', 'actor', 'FORBIDDEN', 'host_machine', 'load', 'host:web-1', 'no');

INSERT INTO refusals (minute, thread, platform, actor, gate, code, tool, action, times, last)
VALUES (0, 's-01', 'console', '1000', 'actor', 'FORBIDDEN', 'host_machine', 'load', 3, 'a-01');
