-- +goose Up

-- A session belongs to the project of its directory, and projects are neither merged nor renamed.
DROP INDEX session_work;
ALTER TABLE session DROP COLUMN work_cwd;
DROP TABLE project_union;
ALTER TABLE project DROP COLUMN renamed;

CREATE TABLE removed_folder (
    project_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO removed_folder (project_id) SELECT project_id FROM folder_move WHERE into_id = '';
DROP TABLE folder_move;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
