INSERT OR REPLACE INTO embedding
VALUES ($digest, $encoder, $revision, $dimension, $parameters, $memory_bytes, $texts, $seconds, $device)
