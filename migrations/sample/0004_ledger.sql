-- Rows as version 0004 writes them; every later migration is applied over these.
INSERT INTO ledger (id, version, body, last_change)
VALUES ('{"link":{"id":"4711","platform":"telegram"}}', 1, '', 'k-02'),
       ('{"link":{"id":"4712","platform":"telegram"}}', 0,
        '{"link":{"person":"ann","by":"ann","at":1700000000000}}', 'k-03');
