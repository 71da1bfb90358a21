INSERT INTO dataset BY NAME SELECT * EXCLUDE (source_seq) FROM copied_dataset
