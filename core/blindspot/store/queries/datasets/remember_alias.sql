INSERT INTO dataset_alias VALUES ($dataset, $dataset_digest) ON CONFLICT DO NOTHING
