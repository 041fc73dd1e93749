-- Rows as version 0002 writes them; every later migration is applied over these.
INSERT INTO plans (id, thread, body, digest, target, state, code, outcome, decided, over_at, looks, next_look, version, last_move, requested_at, expires_at)
VALUES ('00000000000000000000000000000001', 's-01',
        '{"action":"stop","alone":true,"args":{"pid":4711},"because":"asked by Ada: stop sleep","before":{"started":"5512345"},"expect":{"absent":true,"changed":[],"equals":{}},"expires_at":902100,"form":1,"id":"00000000000000000000000000000001","limit_ms":5000,"requested_at":2100,"requester":{"display":"Ada","id":"1000","kind":"human"},"risk":"medium","signal":"s-02","tainted":false,"target":"process:web-1:4711-5512345","target_name":"sleep","thread":{"account":"local","conversation":"terminal","platform":"console","root":"main","space":""},"title":"stop process sleep (pid 4711)","tool":"host_process"}',
        '0146d95969c021dc9a87726a912d3b833c2d87a2b15c37f5bb66bb4cfe35f19b',
        'process:web-1:4711-5512345', 'pending', '', '', '', NULL, 0, NULL, 0, '', 2100, 902100),
       ('00000000000000000000000000000002', 's-01',
        '{"action":"stop","alone":true,"args":{"pid":4711},"because":"asked by Ada: stop sleep","before":{"started":"5512345"},"expect":{"absent":true,"changed":[],"equals":{}},"expires_at":902200,"form":1,"id":"00000000000000000000000000000002","limit_ms":5000,"requested_at":2200,"requester":{"display":"Ada","id":"1000","kind":"human"},"risk":"medium","signal":"s-02","tainted":false,"target":"process:web-1:4712-5512346","target_name":"sleep","thread":{"account":"local","conversation":"terminal","platform":"console","root":"main","space":""},"title":"stop process sleep (pid 4711)","tool":"host_process"}',
        '7fc309b4830d9c82fd06a96254734b184dc5debd9ee03b0e7bf1135a452d87d1',
        'process:web-1:4712-5512346', 'unverified', '', '',
        '{"at":2300,"by":{"display":"Ada","id":"1000","kind":"human"},"platform":"console","signal":"s-02","waiver":true}',
        17300, 1, 18000, 4, 'm-04', 2200, 902200);

INSERT INTO writes_in_flight (target, plan)
VALUES ('process:web-1:4712-5512346', '00000000000000000000000000000002');

INSERT INTO audit_chain (seq, id, at, payload_hash, prev, hash)
VALUES (1, 'a-02', 2200, 'ddb10884fae2f2c5bc298ff23b3147c85f3b0f7daa4877aa907114f3dc50b8e8',
        '0000000000000000000000000000000000000000000000000000000000000000',
        '05ff2bbfe988cec9f63198258ad3faa994efa2262b88e325668018debada2584'),
       (2, 'a-03', 2300, '24b6ad45e219dc469fa29661638b1aeaeca0b933a58312dc50c6c2b7ca40d071',
        '05ff2bbfe988cec9f63198258ad3faa994efa2262b88e325668018debada2584',
        'f9ab630aefdc42ee80f606cf3ee851410fbdfdedaa90dec2179695afedd8c899');

INSERT INTO audit_payloads (id, body)
VALUES ('a-02',
        '{"action":"stop","actor":"1000","code":"","detail":"stop process sleep (pid 4712)","digest":"7fc309b4830d9c82fd06a96254734b184dc5debd9ee03b0e7bf1135a452d87d1","gate":"","plan":"00000000000000000000000000000002","platform":"console","salt":"00112233445566778899aabbccddeeff","signal":"s-02","target":"process:web-1:4712-5512346","thread":"s-01","tool":"host_process","what":"proposed"}'),
       ('a-03',
        '{"action":"stop","actor":"1000","code":"","detail":"by Ada, alone, as the policy allows","digest":"7fc309b4830d9c82fd06a96254734b184dc5debd9ee03b0e7bf1135a452d87d1","gate":"","plan":"00000000000000000000000000000002","platform":"console","salt":"ffeeddccbbaa99887766554433221100","signal":"s-02","target":"process:web-1:4712-5512346","thread":"s-01","tool":"host_process","what":"approved"}');

UPDATE audit_head SET seq = 2, hash = 'f9ab630aefdc42ee80f606cf3ee851410fbdfdedaa90dec2179695afedd8c899' WHERE one = 1;
