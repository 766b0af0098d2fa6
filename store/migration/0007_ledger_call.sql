-- +goose Up

-- A row is one call. It is there from the call's beginning on, with what it is
-- estimated to take, so that a process that dies in the middle leaves it.
-- A row whose call is empty is what work says that it spent on models of its own.
ALTER TABLE ledger ADD COLUMN call TEXT NOT NULL DEFAULT ''; -- what became of it: begun, answered, …
ALTER TABLE ledger ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)); -- its tokens and cost are
-- The token of the claim that the call was made for. The outcome is that of this
-- work, unfinished until the work has ended.
ALTER TABLE ledger ADD COLUMN work TEXT NOT NULL DEFAULT '';
CREATE INDEX ledger_unfinished ON ledger (work) WHERE outcome = 'unfinished';

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
