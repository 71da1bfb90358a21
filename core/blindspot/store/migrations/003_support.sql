-- Which items a run ranked, where an encoder has no vector for some: `support` names the other encoders that had to
-- have one too, `own_support` says that the encoder's own coverage is all that limited it. '' means all items.

CREATE TABLE support (
    support_digest VARCHAR PRIMARY KEY,
    items          INTEGER NOT NULL,
    ranked         BLOB NOT NULL
);

ALTER TABLE run ADD COLUMN support JSON;
ALTER TABLE run ADD COLUMN support_digest VARCHAR;
ALTER TABLE run ADD COLUMN own_support BOOLEAN;
