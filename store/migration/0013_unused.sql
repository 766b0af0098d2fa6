-- +goose Up

-- What no version reads any more.
DROP TABLE forgotten_key;
DROP TABLE forgotten_beginning;
DROP TABLE forgotten_line;
DROP INDEX job_gave;
ALTER TABLE job DROP COLUMN gave;
ALTER TABLE job DROP COLUMN isolated;
ALTER TABLE extraction DROP COLUMN text_sum;
DELETE FROM counter WHERE name NOT IN ('fence', 'purge');

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
