SELECT task, title, variants, manifest, created_at FROM judgment_set WHERE set_id = $set_id
