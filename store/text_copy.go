package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"

	"memoir"
)

// TextsOfCopy calls fn for every text of another database of this form: a copy that
// was made before a migration, or put aside. One that is damaged is read page by page,
// without tables and columns. Nothing is written, beside it either.
func TextsOfCopy(ctx context.Context, path string, fn func(Text) error) error {
	s, err := openCopy(path)
	if err != nil {
		return err
	}
	defer s.readers.Close()
	err = s.Texts(ctx, "", fn)
	if memoir.CodeOf(err) == memoir.CodeCorrupt && ctx.Err() == nil {
		return textsOfPages(ctx, path, fn)
	}
	return err
}

func openCopy(path string) (*Store, error) {
	s := &Store{path: path, writing: make(chan struct{}, 1)}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=ro&immutable=1", OmitHost: true}
	db, err := sql.Open("sqlite3", dsn.String())
	s.readers = db
	return s, s.explain(err, "opening %s", path)
}

// textsOfPages calls fn for every text of a database that SQLite can't read: the bytes
// of each page, deleted rows included, and the values of rows that several pages hold.
func textsOfPages(ctx context.Context, path string, fn func(Text) error) error {
	file, closeFiles, err := readPages(path)
	if err != nil {
		return err
	}
	defer closeFiles()
	for n := uint32(1); n <= file.Pages(); n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := file.Page(n)
		if b == nil {
			continue
		}
		key := fmt.Sprintf("page %d", n)
		if err := fn(Text{Key: key, Value: string(b)}); err != nil {
			return err
		}
		found, _ := file.Rows(n)
		for _, row := range found.Rows {
			for _, value := range row.Values {
				text := plainValue(value)
				if _, number := value.(int64); number || bytes.Contains(b, []byte(text)) {
					continue
				}
				if err := fn(Text{Key: key, Value: text}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
