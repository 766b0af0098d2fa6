package memoir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxWords bounds the words and phrases by which extract and consolidate read prose. What was done, what was repeated
// and what a person decided says more than words do.
const maxWords = 230

// notProse are the variables and functions whose lists name commands, options, tools, tags, members of schemas, or what
// programs print: the messages of shells, compilers and the agents' apps.
var notProse = []string{
	"EditOf", "asksAbout", "forPeople", "htmlScript", "identifier", "issueTool", "jsonMember", "launchesAt", "onlyTitle",
	"otherQuotes", "otherWords", "pathArguments", "pipedInto", "pollFrame", "postAddress", "postLine", "purposes",
	"scripts", "session.postTool", "session.request", "session.substituted", "shellParser.call", "untitled",
	"verb", "workOf", "wrapper",
	"absent", "didNothing", "errorText", "failureCount", "failureNote", "failureParts", "failureStarts", "notFound",
	"refusals", "usageWords",
}

// TestFewWordsDecideAboutProse counts the words in lists: of two or more strings in a composite literal, a call or the
// cases of a switch, and of the alternatives of a pattern. A word or phrase has small letters, blanks, hyphens and
// apostrophes only.
func TestFewWordsDecideAboutProse(t *testing.T) {
	total := 0
	for _, dir := range []string{"extract", "consolidate"} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for name, node := range declared(file) {
				if words := wordsIn(node); len(words) > 0 && !slices.Contains(notProse, name) {
					total += len(words)
					t.Logf("%s: %s: %d: %s", path, name, len(words), strings.Join(words, ", "))
				}
			}
		}
	}
	if total > maxWords {
		t.Errorf("%d words and phrases decide about prose, at most %d", total, maxWords)
	}
}

// declared returns the variables and functions of a file by name, methods as TYPE.NAME.
func declared(file *ast.File) map[string]ast.Node {
	out := map[string]ast.Node{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			out[name] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					out[v.Names[0].Name] = v
				}
			}
		}
	}
	return out
}

var (
	phrase   = regexp.MustCompile(`^[a-z][a-z' -]*[a-z]$`)
	notWords = regexp.MustCompile(`\\[a-zA-Z]|\(\?[a-z:-]*|\[[^\]]*\]|[?+*^$.,:;]`) // of a pattern
)

func wordsIn(node ast.Node) (words []string) {
	ast.Inspect(node, func(n ast.Node) bool {
		var list []string
		switch n := n.(type) {
		case *ast.CompositeLit:
			list = texts(n.Elts)
		case *ast.CaseClause:
			list = texts(n.List)
		case *ast.CallExpr:
			list = texts(n.Args)
			if called, ok := n.Fun.(*ast.SelectorExpr); ok && (called.Sel.Name == "New" || called.Sel.Name == "MustCompile") {
				list = alternatives(n.Args)
			}
		}
		if list = slices.DeleteFunc(list, func(s string) bool { return !phrase.MatchString(s) }); len(list) > 1 {
			words = append(words, list...)
		}
		return true
	})
	return words
}

// texts returns the strings of a list, of a map its keys.
func texts(list []ast.Expr) (out []string) {
	for _, e := range list {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Key
		}
		if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING {
			s, _ := strconv.Unquote(text.Value) // the parser has read it
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// alternatives returns what stands between the bars and brackets of a pattern with alternatives.
func alternatives(args []ast.Expr) (out []string) {
	pattern := ""
	for _, arg := range args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				s, _ := strconv.Unquote(text.Value)
				pattern += s
			}
			return true
		})
	}
	if !strings.Contains(pattern, "|") {
		return nil
	}
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '|' || r == '(' || r == ')' }) {
		if part = strings.TrimSpace(notWords.ReplaceAllString(part, "")); len(part) > 2 {
			out = append(out, part)
		}
	}
	return out
}
