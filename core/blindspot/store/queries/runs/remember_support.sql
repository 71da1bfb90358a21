INSERT INTO support VALUES ($support_digest, $items, $ranked) ON CONFLICT DO NOTHING
