-- Rows as version 0009 writes them; every later migration is applied over these. The seals are of no key.
INSERT INTO ledger (id, version, body, last_change, seal)
VALUES ('{"link":{"id":"4713","platform":"telegram"}}', 0, '', 'c-91', '5c1e');
