-- Rows as version 0006 writes them; every later migration is applied over these.
INSERT INTO plans (id, thread, body, digest, target, state, code, outcome, decided, over_at, looks, next_look, version, last_move, requested_at, expires_at, reminded, level, withdrawn)
VALUES ('00000000000000000000000000000004', 's-01',
        '{"action":"stop","alone":false,"args":{"pid":4711},"because":"asked by Ada: stop sleep","before":{"started":"5512347"},"event":"e-03","expect":{"absent":true,"changed":[],"equals":{}},"expires_at":903100,"form":1,"id":"00000000000000000000000000000004","labels":["started=5512347"],"limit_ms":5000,"requested_at":3100,"requester":{"display":"Ada","id":"1000","kind":"human"},"risk":"medium","room":"direct","signal":"s-02","tainted":false,"target":"process:web-1:4713-5512347","target_about":"","target_name":"sleep","terms":{"circles":[{"escalate":[{"after_ms":60000,"group":"leads"}],"group":"sre"}],"quorum":2,"remind_ms":30000},"thread":{"account":"local","conversation":"terminal","platform":"console","root":"main","space":""},"title":"stop process sleep (pid 4711)","tool":"host_process"}',
        'b724480cf7bb3cf8222eb07201b092eb7007cbeaeca06178ce9f4326287cc4f9',
        'process:web-1:4713-5512347', 'pending', '', '', '', NULL, 0, NULL, 3, 'm-07', 3100, 903100, 1, 1, '');

INSERT INTO votes (plan, n, person, platform, actor, body)
VALUES ('00000000000000000000000000000004', 0, 'bob', 'console', 'uid:1001',
        '{"platform":"console","by":{"id":"uid:1001","kind":"human","display":"Bob"},"person":"bob","room":"direct","signal":"s-02","at":3200,"waiver":false}');
