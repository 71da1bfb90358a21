-- What people judge and how: sets of items, the votes on them, and sessions of several raters.

CREATE TABLE judgement_set (
    set_id     VARCHAR PRIMARY KEY,
    task       VARCHAR NOT NULL CHECK (task IN ('intruder', 'comparative')),
    title      VARCHAR NOT NULL,
    variants   VARCHAR[] NOT NULL,
    manifest   JSON NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE judgement_item (
    set_id         VARCHAR NOT NULL,
    item_no        INTEGER NOT NULL,
    query          VARCHAR NOT NULL,
    part_of_speech VARCHAR NOT NULL,
    concreteness   VARCHAR NOT NULL,
    category       VARCHAR NOT NULL,
    band           VARCHAR NOT NULL,
    k              INTEGER,
    options        VARCHAR[] NOT NULL,
    own            INTEGER[] NOT NULL, -- per variant of the set its own option, -1 where the item is not about it
    PRIMARY KEY (set_id, item_no)
);

CREATE TABLE judgement_vote (
    set_id    VARCHAR NOT NULL,
    session   VARCHAR NOT NULL, -- '' outside of a session
    rater_key VARCHAR NOT NULL, -- the nickname as it is compared
    rater     VARCHAR NOT NULL, -- and as it was given
    item_no   INTEGER NOT NULL,
    option_no INTEGER,          -- NULL: the rater does not know the words
    seconds   DOUBLE,
    voted_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (set_id, session, rater_key, item_no)
);

CREATE TABLE judgement_session (
    name       VARCHAR PRIMARY KEY,
    key_digest VARCHAR NOT NULL, -- of the facilitator's key, which itself is stored nowhere
    revealed   BOOLEAN NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE judgement_session_set (
    name   VARCHAR NOT NULL,
    task   VARCHAR NOT NULL,
    set_id VARCHAR NOT NULL,
    PRIMARY KEY (name, task)
);
