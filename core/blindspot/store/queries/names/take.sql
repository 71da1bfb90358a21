DELETE FROM display_name WHERE kind = $kind AND reference = $reference
