package memoir_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The bounds of the source without tests and generated tables. They keep the program small enough for a newcomer.
const (
	maxFileLines  = 400
	maxColumns    = 120
	maxFuncLines  = 60
	maxComplexity = 20
	maxFiles      = 30
)

// largerPackages may have up to 40 files: each is a format or a command.
var largerPackages = map[string]bool{"rollout": true, "cmd/memoir": true}

// notSource are directories of build results, and of fixtures and servers for tests.
var notSource = []string{"bin", "testdata", "modeltest", "secretstest"}

// TestTheSourceKeepsItsBounds reads every Go file outside tests.
func TestTheSourceKeepsItsBounds(t *testing.T) {
	files := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != "." && (name[0] == '.' || slices.Contains(notSource, name)) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		files[dir]++
		if !bytes.HasPrefix(source, []byte("// Code generated")) {
			checkFile(t, path, source)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range files {
		if most := maxFiles; n > most && (!largerPackages[dir] || n > 40) {
			t.Errorf("%s: %d files, at most %d", dir, n, most)
		}
	}
}

func checkFile(t *testing.T, path string, source []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
	if len(lines) > maxFileLines {
		t.Errorf("%s: %d lines, at most %d", path, len(lines), maxFileLines)
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > maxColumns {
			t.Errorf("%s:%d: %d columns, at most %d", path, i+1, n, maxColumns)
		}
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		at := positions.Position(fn.Pos())
		if n := positions.Position(fn.End()).Line - at.Line + 1; n > maxFuncLines {
			t.Errorf("%s: %s has %d lines, at most %d", at, fn.Name.Name, n, maxFuncLines)
		}
		if n := complexity(fn); n > maxComplexity {
			t.Errorf("%s: %s has complexity %d, at most %d", at, fn.Name.Name, n, maxComplexity)
		}
	}
}

// complexity counts the branches of a function as gocyclo does: one, and one more for each
// if, for, case, && and ||.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
