-- What a person has answered in reviews of a project's memory. A key is memoir.LineKey of a line or of words that were
-- said once, or the id of a statement behind them.
CREATE TABLE review (
    project_id TEXT    NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    key        TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;
