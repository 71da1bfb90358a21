-- Also one that was run and never checked; what was found out about it stays for its runs.
INSERT INTO encoder_reference VALUES ($reference, $now, true, '{}')
ON CONFLICT (reference) DO UPDATE SET is_removed = true
