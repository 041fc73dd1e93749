-- Rows as version 0008 writes them; every later migration is applied over these.
INSERT INTO inbox (id, thread, platform, account, event, body, state, attempts, ending, received_at, ended_at, interruptions, set_aside_at)
VALUES ('s-81', 's-01', 'console', 'local', '81',
        '{"id":"s-81","event":"81","thread":{"platform":"console","account":"local","space":"","conversation":"terminal","root":"main"},"room":"direct","actor":{"id":"1000","kind":"human","display":"Ada"},"addressed":"direct","payload":{"type":"text","text":""},"depth":0,"ground":"foreground","received_at":8100}',
        'done', 2, 'interrupted', 8100, 8300, 2, 8200),
       ('s-82', 's-01', 'console', 'local', '82',
        '{"id":"s-82","event":"82","thread":{"platform":"console","account":"local","space":"","conversation":"terminal","root":"main"},"room":"direct","actor":{"id":"1000","kind":"human","display":"Ada"},"addressed":"direct","payload":{"type":"text","text":"load"},"depth":0,"ground":"foreground","received_at":8400}',
        'begun', 1, NULL, 8400, NULL, 1, NULL);
