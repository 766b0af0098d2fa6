-- +goose Up

-- Estimates do not learn from earlier calls.
DROP INDEX ledger_learned;
ALTER TABLE ledger DROP COLUMN input_bytes;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
