-- What no version reads any more.
DROP TABLE IF EXISTS draft;
DROP TABLE IF EXISTS extraction_mark;
DROP TABLE IF EXISTS goose_db_version;
