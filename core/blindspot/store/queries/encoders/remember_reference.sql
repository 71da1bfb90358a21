INSERT OR REPLACE INTO encoder_reference VALUES ($reference, $checked_at, false, $facts)
