-- +goose Up

-- A person named it: what its sessions would call it no longer counts.
ALTER TABLE project ADD COLUMN renamed INTEGER NOT NULL DEFAULT 0;

-- What an alias is: a name that people may say; an identity, by which sessions
-- find their project; the id of a project that was merged into this one.
ALTER TABLE project_alias ADD COLUMN kind TEXT NOT NULL DEFAULT 'name' CHECK (kind IN ('name', 'identity', 'id'));
UPDATE project_alias SET kind = 'identity' WHERE instr(alias, '/') > 0 OR substr(alias, 1, 8) = 'project:';

-- Where most of a session's work was, once that is known to be another project than
-- the one where it began. A scan leaves it, and the project, as they are.
ALTER TABLE session ADD COLUMN work_cwd TEXT NOT NULL DEFAULT '';
CREATE INDEX session_work ON session (work_cwd) WHERE work_cwd <> '';

-- Projects that turned out to be one, and wait for a run that can hold both.
CREATE TABLE project_union (
    from_id TEXT NOT NULL PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    into_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX project_union_into ON project_union (into_id);

-- Folders of projects whose rows are gone: to be put below that of another
-- project, or to be removed if there is none. Each goes when that is done.
CREATE TABLE folder_move (
    project_id TEXT NOT NULL PRIMARY KEY,
    into_id    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
