-- Rows as version 0011 writes them; every later migration is applied over these. The seals are of no key.
INSERT INTO ledger (id, version, body, last_change, seal)
VALUES ('{"link":{"id":"4715","platform":"telegram"}}', 0, '', 'c-93', '5c20');
