-- +goose Up

-- Bytes that were asked in those of its calls whose tokens are known; 0: not known.
-- With input_tokens they tell how many tokens a byte is to a model.
ALTER TABLE ledger ADD COLUMN input_bytes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ledger_learned ON ledger (model, phase, id) WHERE input_bytes > 0;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
