INSERT OR REPLACE INTO display_name VALUES ($kind, $reference, $name)
