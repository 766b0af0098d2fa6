package pipeline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/store"
)

// Why redacting leaves some files and names as they are.
const (
	keptName   = "memoir did not give it that name: rename it, or remove it"
	keptFolder = "a project's folder is called by its id, by which agents and other rows find it"
	keptTrust  = "it is a path that you trust; `memoir trust` knows how to take that back"
	keptCopy   = "a database that memoir put aside, or that is not its own: remove it"
)

// tree calls look for each file below a directory, and for its name.
func (s *sweep) tree(ctx context.Context, dir string, look looker) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			s.leaveUnread(path, err)
			return nil
		}
		if path == s.home {
			return nil
		}
		at := s.placeOf(path)
		named := at
		named.name = true
		if at.area != inLive {
			named.Kept = keptName
			if entry.IsDir() && isProject(s.home, path) {
				named.Kept = keptFolder
			}
		}
		if err := look(named.StoredPlace, entry.Name()); err != nil {
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		err = s.file(ctx, at, look)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it came and went
		}
		if err != nil && unreadable(err) && ctx.Err() == nil {
			s.leaveUnread(path, err)
			return nil
		}
		return err
	})
	return err
}

// unreadable tells what is wrong with one file from what ends it all.
func unreadable(err error) bool {
	var path *fs.PathError
	code := memoir.CodeOf(err)
	return errors.As(err, &path) || code == memoir.CodeStorage || code == memoir.CodeCorrupt
}

// sqliteMagic begins a database.
var sqliteMagic = []byte("SQLite format 3\x00")

// file hands the texts of one file on.
func (s *sweep) file(ctx context.Context, at storedFile, look looker) error {
	path := at.file
	if s.store != nil && strings.HasPrefix(path, s.store.Path()) {
		switch strings.TrimPrefix(path, s.store.Path()) {
		case "", "-wal", "-shm", "-journal":
			return nil // its texts were looked at
		}
	}
	if memory.IsArchive(path) {
		return memory.EachArchived(path, func(name string, content []byte) error {
			if memory.IsManifest(name, content) {
				return nil
			}
			inside := at.StoredPlace
			inside.File = name
			named := inside
			named.name = true
			if err := look(named, name); err != nil {
				return err
			}
			return look(inside, string(content))
		})
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if bytes.Equal(head[:n], sqliteMagic) {
		if s.store == nil || !s.store.IsCopy(path) {
			at.Kept = keptCopy
		}
		return store.TextsOfCopy(ctx, path, s.rows(at.StoredPlace, func(at StoredPlace, text string) error { return look(at, text) }))
	}
	if at.area == inLive {
		whole, err := os.ReadFile(path)
		if err == nil && memory.IsManifest(filepath.Base(path), whole) {
			return nil
		}
	}
	if path == filepath.Join(s.home, trustName) {
		at.Kept = keptTrust
	}
	text, _, err := Decode(io.MultiReader(bytes.NewReader(head[:n]), f))
	if err != nil {
		return err
	}
	return Pieces(ctx, text, pieceSize, func(piece Piece) error {
		at.Line, at.piece = piece.Line, &piece
		return look(at.StoredPlace, piece.Text)
	})
}

// pieceSize is how much of a file is looked at in one piece, in bytes.
const pieceSize = 1 << 20

// trustName is the file of a home that says which project files are trusted.
const trustName = "trust.yml"

// The parts of a project's folder, by how they are redacted.
const (
	inLive     = "live"
	inArchives = "generations"
)

// storedFile is a file of a home.
type storedFile struct {
	StoredPlace
	area string // of a project's folder: inLive, inArchives; empty: anything else
	root string // the folder whose area that is: a project's, or one merged into it
}

// placeOf says what a path in a home is.
func (s *sweep) placeOf(path string) storedFile {
	at := storedFile{StoredPlace: StoredPlace{file: path}}
	rel, err := filepath.Rel(s.home, path)
	if err != nil {
		return at
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	if len(parts) < 2 || parts[0] != "projects" {
		return at
	}
	at.Project, at.owner = parts[1], parts[1]
	at.root = filepath.Join(s.home, parts[0], parts[1])
	parts = parts[2:]
	for len(parts) > 1 && parts[0] == "merged" {
		at.root = filepath.Join(at.root, parts[0], parts[1])
		parts = parts[2:]
	}
	switch {
	case len(parts) > 1 && parts[0] == inLive:
		at.area = inLive
	case len(parts) == 2 && parts[0] == inArchives:
		at.area = inArchives
		number, _, _ := strings.Cut(strings.TrimPrefix(parts[1], "."), ".")
		number, _, _ = strings.Cut(number, "-")
		at.Generation, _ = strconv.Atoi(number)
	}
	return at
}

// isProject reports whether a directory is a project's folder, or that of one that was merged.
func isProject(home, path string) bool {
	parent := filepath.Dir(path)
	return parent == filepath.Join(home, "projects") || filepath.Base(parent) == "merged"
}
