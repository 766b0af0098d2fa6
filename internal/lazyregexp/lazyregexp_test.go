package lazyregexp_test

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// makers are the functions that make a regular expression of this package.
var makers = map[string]bool{"lazyregexp.New": true, "newPattern": true}

// An invalid expression would cause a panic only at its first use.
func TestEveryExpressionOfTheProgramCompiles(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir("../..", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || name != ".." && strings.HasPrefix(name, ".") {
			return filepath.SkipDir
		}
		found += compileAll(t, dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 100 {
		t.Errorf("only %d expressions were found", found)
	}
}

// nowhere is an importer without packages.
type nowhere struct{}

func (nowhere) Import(string) (*types.Package, error) { return nil, errors.New("not looked for") }

// compileAll compiles the expressions of the variables of the package in a directory, and returns their number.
// Imports are not followed: constants need none.
func compileAll(t *testing.T, dir string) (found int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	check := types.Config{Importer: nowhere{}, IgnoreFuncBodies: true, Error: func(error) {}}
	_, _ = check.Check(dir, fset, files, &info)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncDecl); ok {
				return false
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || !makers[types.ExprString(call.Fun)] || len(call.Args) != 1 {
				return true
			}
			found++
			value := info.Types[call.Args[0]].Value
			if value == nil || value.Kind() != constant.String {
				t.Errorf("%s: the expression is no constant", fset.Position(call.Pos()))
			} else if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
				t.Errorf("%s: %v", fset.Position(call.Pos()), err)
			}
			return true
		})
	}
	return found
}
