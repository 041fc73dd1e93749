-- Rows as version 0002 writes them; every later migration is applied over these.
INSERT INTO plans (id, thread, body, digest, target, state, code, outcome, decided, over_at, looks, next_look, version, last_move, requested_at, expires_at)
VALUES ('00000000000000000000000000000001', 's-01',
        '{"action":"stop","alone":true,"args":{"pid":4711},"because":"asked by Ada: stop sleep","before":{"started":"5512345"},"expect":{"absent":true,"changed":[],"equals":{}},"expires_at":902100,"form":1,"id":"00000000000000000000000000000001","limit_ms":5000,"requested_at":2100,"requester":{"display":"Ada","id":"1000","kind":"human"},"risk":"medium","signal":"s-02","tainted":false,"target":"process:web-1:4711-5512345","target_about":"","target_name":"sleep","thread":{"account":"local","conversation":"terminal","platform":"console","root":"main","space":""},"title":"stop process sleep (pid 4711)","tool":"host_process"}',
        'bbb7d1e13d9e4661967c4a0f3292c71cf1a1387f44b9bb0723787292525e87b6',
        'process:web-1:4711-5512345', 'pending', '', '', '', NULL, 0, NULL, 0, '', 2100, 902100),
       ('00000000000000000000000000000002', 's-01',
        '{"action":"stop","alone":true,"args":{"pid":4711},"because":"asked by Ada: stop sleep","before":{"started":"5512345"},"expect":{"absent":true,"changed":[],"equals":{}},"expires_at":902200,"form":1,"id":"00000000000000000000000000000002","limit_ms":5000,"requested_at":2200,"requester":{"display":"Ada","id":"1000","kind":"human"},"risk":"medium","signal":"s-02","tainted":false,"target":"process:web-1:4712-5512346","target_about":"","target_name":"sleep","thread":{"account":"local","conversation":"terminal","platform":"console","root":"main","space":""},"title":"stop process sleep (pid 4711)","tool":"host_process"}',
        '1d809acd01986c4da492d2e587ac17c4bbafb42b6a84ef4e531d46c5d8484204',
        'process:web-1:4712-5512346', 'unverified', '', '',
        '{"at":2300,"by":{"display":"Ada","id":"1000","kind":"human"},"platform":"console","signal":"s-02","waiver":true}',
        17300, 1, 18000, 4, 'm-04', 2200, 902200);

INSERT INTO writes_in_flight (target, plan)
VALUES ('process:web-1:4712-5512346', '00000000000000000000000000000002');

INSERT INTO audit_chain (seq, id, at, payload_hash, prev, hash)
VALUES (1, 'a-02', 2200, '4ebac696f12c9c94aeb738916beb33cc6ddf89d156995bd69b8778a26d1d8003',
        '0000000000000000000000000000000000000000000000000000000000000000',
        '62fdafcd5a454a5ddbf805b084f1c47ac5cae22615f5e1241e77c047753bd087'),
       (2, 'a-03', 2300, '902334c8255d7171a079cee9a3277f69075bf86754c30d9fd27c006f8292e69c',
        '62fdafcd5a454a5ddbf805b084f1c47ac5cae22615f5e1241e77c047753bd087',
        '2f24d69b6db36b30aeb83d8c56f81e1725238aa6aa37a6c28284d3969e1e23d8');

INSERT INTO audit_payloads (id, body)
VALUES ('a-02',
        '{"action":"stop","actor":"1000","code":"","detail":"stop process sleep (pid 4712)","digest":"1d809acd01986c4da492d2e587ac17c4bbafb42b6a84ef4e531d46c5d8484204","gate":"","plan":"00000000000000000000000000000002","platform":"console","salt":"00112233445566778899aabbccddeeff","signal":"s-02","target":"process:web-1:4712-5512346","thread":"s-01","tool":"host_process","what":"proposed"}'),
       ('a-03',
        '{"action":"stop","actor":"1000","code":"","detail":"by Ada, alone, as the policy allows","digest":"1d809acd01986c4da492d2e587ac17c4bbafb42b6a84ef4e531d46c5d8484204","gate":"","plan":"00000000000000000000000000000002","platform":"console","salt":"ffeeddccbbaa99887766554433221100","signal":"s-02","target":"process:web-1:4712-5512346","thread":"s-01","tool":"host_process","what":"approved"}');

UPDATE audit_head SET seq = 2, hash = '2f24d69b6db36b30aeb83d8c56f81e1725238aa6aa37a6c28284d3969e1e23d8' WHERE one = 1;
