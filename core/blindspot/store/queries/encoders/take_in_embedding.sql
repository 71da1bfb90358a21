-- What encoding cost elsewhere; what it cost here stays.
INSERT INTO embedding
VALUES ($digest, $encoder, $revision, $dimension, $parameters, $memory_bytes, $texts, $seconds, $device)
ON CONFLICT DO NOTHING
