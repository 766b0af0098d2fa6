package failpoint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writes are the functions and methods that change a disk, by name, of any type or package; osWrites are only of
// package os.
var (
	writes = []string{
		"Chmod", "Chown", "Chtimes", "Create", "CreateTemp", "Mkdir", "MkdirAll", "MkdirTemp", "OpenFile",
		"Remove", "RemoveAll", "Rename", "Symlink", "Sync", "WriteFile", "ExecContext",
	}
	osWrites = []string{"Link", "Truncate"}
)

// without are the functions that have fewer failpoints than writes, with the reason.
var without = map[string]string{
	"disk.OpenIn":             "who may create a file by it has a moment",
	"disk.Flush":              "it opens what a write made, and has a moment",
	"main.memberCommands":     "Remove is a method of the hub, which writes to PostgreSQL",
	"main.syncs":              "Sync is a function that has moments",
	"main.unshare":            "Sync is a function that has moments",
	"main.withdrawForgotten":  "Sync is a function that has moments",
	"pipeline.syncTeam":       "Sync is a function that has moments",
	"main.smoke":              "what smoke writes is compared and thrown away",
	"main.clearProjects":      "Remove is a method that has moments",
	"pipeline.RemoveFolders":  "Remove is a method that has moments",
	"search.correct":          "it makes a temporary table, in memory",
	"store.lockDatabase":      "it opens what is there",
	"store.onWriter":          "who writes by it has a moment before",
	"store.withoutReferences": "it sets the connection, and the transaction has moments",
	"store.exec":              "a statement of a transaction, which has moments",
	"store.rollback":          "it leaves what was before",
	"store.transact":          "write has moments for those that write",
}

// TestEveryWriteHasAMoment reads the source: each function must have as many failpoints as
// writes.
func TestEveryWriteHasAMoment(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"failpoint", "bench", "testdata", "modeltest", "hubtest", ".git", ".tools"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := file.Name.Name + "." + fn.Name.Name
			found, moments := count(fn)
			if len(found) <= moments {
				continue
			}
			if _, ok := without[name]; ok {
				used[name] = true
				continue
			}
			t.Errorf("%s: %s writes (%s) and has %d moments: call failpoint.Before, or one of its functions instead of os's", path, name, strings.Join(found, ", "), moments)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range without {
		if !used[name] {
			t.Errorf("%s is excused and needs no excuse", name)
		}
	}
}

// count returns the writes of a function and its number of failpoints.
func count(fn *ast.FuncDecl) (found []string, moments int) {
	ast.Inspect(fn, func(node ast.Node) bool {
		// Statements of SQL are executed on a tx; whoever makes one may write.
		if literal, ok := node.(*ast.CompositeLit); ok && fmt.Sprint(literal.Type) == "tx" {
			found = append(found, "tx")
		}
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		on, name := fmt.Sprint(selector.X), selector.Sel.Name
		switch {
		case on == "failpoint" && (name == "Before" || name == "After"), name == "step":
			moments++
		case on == "failpoint":
		case name == "OpenFile" && reads(call):
		case slices.Contains(writes, name), on == "os" && slices.Contains(osWrites, name):
			found = append(found, on+"."+name)
		}
		return true
	})
	return found, moments
}

// reads reports whether a file is opened for reading only.
func reads(open *ast.CallExpr) bool {
	only := false
	ast.Inspect(open, func(node ast.Node) bool {
		if id, ok := node.(*ast.Ident); ok && id.Name == "O_RDONLY" {
			only = true
		}
		return true
	})
	return only
}
