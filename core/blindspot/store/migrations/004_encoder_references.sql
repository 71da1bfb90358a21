-- Encoders that users added by reference, before any run: pages list them with what the last check found.
-- One that was removed keeps its row, so that its runs do not bring it back.

CREATE TABLE encoder_reference (
    reference  VARCHAR PRIMARY KEY,
    checked_at TIMESTAMP NOT NULL,
    is_removed BOOLEAN NOT NULL,
    facts      JSON NOT NULL
);
