-- Where the statements of an extraction were seen in the project's files: a JSON object of the form
-- {line key: [{path, text, key}]}, '' for none.
ALTER TABLE extraction ADD COLUMN anchors TEXT NOT NULL DEFAULT '';
