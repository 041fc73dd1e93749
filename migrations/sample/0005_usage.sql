-- Rows as version 0005 writes them; every later migration is applied over these.
INSERT INTO usage_turns (id, signal, thread, at, ground, origin, tokens_in, tokens_out, cost_micros)
VALUES ('u-01', 's-01', 's-01', 1100, 'foreground', 'model', 1200, 300, 4500);

INSERT INTO usage_days (day, payer, platform, space, who, ground, origin, tokens_in, tokens_out, cost_micros)
VALUES (0, 'person', '', '', 'ada', 'foreground', 'model', 1200, 300, 4500),
       (0, 'account', 'telegram', '', '5', 'background', 'rule', 40, 0, 10),
       (0, 'room', 'console', '', 'terminal', 'foreground', 'model', 1200, 300, 4500),
       (0, 'team', '', '', '', 'foreground', 'model', 1200, 300, 4500);
