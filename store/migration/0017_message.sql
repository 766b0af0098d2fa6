-- The sessions that searching finds. A session gets a new number whenever what is stored of it
-- changes, and no number is given twice.
CREATE TABLE searchable (
    seq         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    session_key TEXT    NOT NULL UNIQUE REFERENCES session (key) ON DELETE CASCADE,
    moves       INTEGER NOT NULL DEFAULT 0 -- times that it moved to another project
) STRICT;

-- What people and the agent said in a session, as it was last extracted: redacted, bounded,
-- without what tools were given and gave.
CREATE TABLE message (
    id    INTEGER NOT NULL PRIMARY KEY, -- in the order of a session's items
    seq   INTEGER NOT NULL REFERENCES searchable (seq) ON DELETE CASCADE,
    item  INTEGER NOT NULL,
    typed INTEGER NOT NULL CHECK (typed IN (0, 1)), -- by a person; else the agent said it
    at    INTEGER NOT NULL,
    text  TEXT    NOT NULL
) STRICT;
CREATE INDEX message_seq ON message (seq);

-- Messages of sessions that were extracted before come when they are read again.
INSERT INTO searchable (session_key) SELECT session_key FROM extraction;
