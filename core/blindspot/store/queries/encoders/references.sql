-- Encoders that were added by reference or removed, in order of their names.
SELECT reference, checked_at, is_removed, facts
FROM encoder_reference
ORDER BY reference
