-- Rows as version 0010 writes them; every later migration is applied over these. The seals are of no key.
INSERT INTO ledger (id, version, body, last_change, seal)
VALUES ('{"link":{"id":"4714","platform":"telegram"}}', 0, '', 'c-92', '5c1f');
