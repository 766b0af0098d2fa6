-- +goose Up

-- Work other than the row's own that a project is held for: 0 none, 1 some, 2 some,
-- and the row was dead before. Who dies over it is not to blame the row's own work on.
ALTER TABLE job ADD COLUMN errand INTEGER NOT NULL DEFAULT 0;

-- What the hashes below are made with, so that they say nothing elsewhere.
CREATE TABLE forgotten_key (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    key BLOB    NOT NULL
) STRICT;
INSERT INTO forgotten_key (one, key) VALUES (1, randomblob(32));

-- How forgotten sessions begin: of their items up to each point at which a copy may
-- go on otherwise. Who begins like that repeats them.
CREATE TABLE forgotten_beginning (
    hash        BLOB NOT NULL PRIMARY KEY,
    session_key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX forgotten_beginning_session ON forgotten_beginning (session_key);

-- Lines of earlier generations that tell of what was forgotten without a citation of
-- it. They outlive the project's row, as archives do.
CREATE TABLE forgotten_line (
    project_id TEXT NOT NULL,
    hash       BLOB NOT NULL,
    PRIMARY KEY (project_id, hash)
) STRICT, WITHOUT ROWID;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
