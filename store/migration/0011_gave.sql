-- +goose Up

-- What the last extraction of a session came to: 0 nothing, or not known; 1 an extraction,
-- which is to be there; 2 nothing, as what an earlier one rested on was undone. That an
-- extraction is missing says nothing by itself: it may be lost.
ALTER TABLE job ADD COLUMN gave INTEGER NOT NULL DEFAULT 0;
UPDATE job SET gave = 1 WHERE kind = 'extract' AND key IN (SELECT session_key FROM extraction);
CREATE INDEX job_gave ON job (key) WHERE gave = 1;

-- Left over from extractions that were deleted by a program that looks after no references.
DELETE FROM extraction_mark WHERE session_key NOT IN (SELECT session_key FROM extraction);

-- +goose Down
-- There is no way down: the copy made before a migration is the way back.
SELECT 1;
