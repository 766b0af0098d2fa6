-- +goose Up

-- A fingerprint of the extraction's texts, since SQLite keeps none of its pages: text that a
-- disk changed is told by it. Empty: nobody knows. The program fills it in.
ALTER TABLE extraction ADD COLUMN text_sum TEXT NOT NULL DEFAULT '';

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
