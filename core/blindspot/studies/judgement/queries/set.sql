SELECT task, title, variants, manifest, created_at FROM judgement_set WHERE set_id = $set_id
