-- +goose Up

-- The latest runs, to tell when the last one was and how it ended.
CREATE TABLE run (
    id       INTEGER NOT NULL PRIMARY KEY,
    run      TEXT    NOT NULL UNIQUE, -- as in the ledger
    holder   TEXT    NOT NULL,        -- JSON: the process
    began_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL DEFAULT 0, -- 0: under way, or its process died
    outcome  TEXT    NOT NULL DEFAULT '',
    reason   TEXT    NOT NULL DEFAULT '', -- why it did not do all
    hint     TEXT    NOT NULL DEFAULT '', -- what can be done about that
    remained INTEGER NOT NULL DEFAULT 0   -- sessions that it left
) STRICT;

-- Which model failed last: a wait that its server asked for is not for another one.
ALTER TABLE job ADD COLUMN model TEXT NOT NULL DEFAULT '';

-- Why forgetting could not be finished the last time that it was tried.
ALTER TABLE withdrawal ADD COLUMN error TEXT NOT NULL DEFAULT '';

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
