package extract

import (
	"io"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A certainty says how the exit status of a simple command depends on that of its command line.
type certainty int

const (
	bound  certainty = iota // it succeeded if the line did
	masked                  // it succeeded if the line did and printed no failure: a pipe, ";" or line break follows
	unsure                  // it may not have run, or its status is unknown
)

// A run is one simple command of an executed command line.
type run struct {
	item    int
	program string   // the first word, unquoted
	args    []string // the other words, unquoted; an expansion stays as written
	text    string   // as written, with assignments, without redirections and wrappers such as sudo
	dir     string   // where it ran, relative to the session's root; "" is the root
	stdin   string   // its here-document
	dynamic bool     // a word holds a variable or a command substitution
	lacks   bool     // the text lacks what it read, or a comment behind it
	filter  bool     // it reads the output of another command
	target  string   // the file that takes its output; empty if none does
	depends certainty
	status  status
	call    *call
}

// A call is a command line with what it printed.
type call struct {
	output string
	status status
	runs   []*run
}

// maxShellLine bounds, in bytes, the command lines that are parsed: longer ones write a
// file by a here-document or are generated code.
const maxShellLine = 64 << 10

// maxRuns bounds the commands that are read from one line: a line with more is generated.
const maxRuns = 200

// maxNesting bounds the depth of nested shells ("bash -c") whose command lines are parsed.
const maxNesting = 3

// A shellParser splits command lines into simple commands. It is not safe for concurrent use.
type shellParser struct {
	parser *syntax.Parser
	line   string
	dir    string // of the current command; absolute if the call's directory is
	depth  int
	runs   []*run
	wrote  []textFile
	// partial is set if a line has constructs that are not parsed: a loop, a condition, a function.
	partial bool
}

type textFile struct{ path, text string }

func newShellParser() *shellParser {
	return &shellParser{parser: syntax.NewParser(syntax.Variant(syntax.LangBash))}
}

// parse returns the simple commands of a line that ran in dir and the texts that it
// writes into files. A line that is not valid shell has neither.
func (p *shellParser) parse(line, dir string) ([]*run, []textFile) {
	p.dir, p.depth, p.runs, p.wrote, p.partial = dir, 0, nil, nil, false
	p.read(line, bound)
	return p.runs, p.wrote
}

func (p *shellParser) read(line string, c certainty) {
	if len(line) > maxShellLine || p.depth > maxNesting {
		p.partial = true
		return
	}
	file, err := p.parser.Parse(strings.NewReader(line), "")
	if err != nil {
		p.partial = true
		return
	}
	outer := p.line
	p.line = line
	p.depth++
	p.list(file.Stmts, c)
	p.depth--
	p.line = outer
}

// list reads statements of which the last one determines the status of the list.
func (p *shellParser) list(stmts []*syntax.Stmt, c certainty) {
	for i, s := range stmts {
		if i+1 < len(stmts) {
			p.statement(s, max(c, masked), false)
		} else {
			p.statement(s, c, false)
		}
	}
}

func (p *shellParser) statement(s *syntax.Stmt, c certainty, filter bool) {
	if s.Negated || s.Background || s.Coprocess {
		c = unsure
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		p.call(s, x, c, filter)
	case *syntax.BinaryCmd:
		switch x.Op {
		case syntax.AndStmt:
			p.statement(x.X, c, filter)
			p.statement(x.Y, c, false)
		case syntax.OrStmt:
			p.statement(x.X, unsure, filter)
			p.statement(x.Y, unsure, false)
		default: // a pipe
			p.statement(x.X, max(c, pipedInto(x.Y)), filter)
			p.statement(x.Y, c, true)
		}
	case *syntax.Subshell:
		dir := p.dir
		p.list(x.Stmts, c)
		p.dir = dir
	case *syntax.Block:
		p.list(x.Stmts, c)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			p.statement(x.Stmt, c, filter)
		}
	default:
		p.partial = true
	}
}

// pipedInto returns the certainty of a command whose output is piped into s: a pager shows
// an error message, any other program may hide it.
func pipedInto(s *syntax.Stmt) certainty {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		switch c.Args[0].Lit() {
		case "tail", "cat", "tee":
			return masked
		}
	}
	return unsure
}

func (p *shellParser) call(s *syntax.Stmt, x *syntax.CallExpr, c certainty, filter bool) {
	if len(x.Args) == 0 {
		return
	}
	if len(p.runs) == maxRuns {
		p.partial = true
		return
	}
	r := &run{dir: p.dir, depends: c, filter: filter}
	var words, texts []string
	for _, w := range x.Args {
		value, dynamic := p.value(w)
		r.dynamic = r.dynamic || dynamic
		words, texts = append(words, value), append(texts, p.source(w))
	}
	skip := wrapper(words)
	if skip >= len(words) {
		return
	}
	words, texts = words[skip:], texts[skip:]
	for i := len(x.Assigns) - 1; i >= 0; i-- {
		texts = append([]string{p.source(x.Assigns[i])}, texts...)
		r.dynamic = r.dynamic || strings.Contains(texts[0], "$")
	}
	r.program, r.args, r.text = words[0], words[1:], strings.Join(texts, " ")
	p.redirect(s, r)
	switch path.Base(r.program) {
	case "cd", "pushd":
		if len(r.args) == 1 && !r.dynamic {
			p.dir = join(p.dir, r.args[0])
		}
		return
	case "set":
		return
	case "bash", "sh", "zsh":
		if len(r.args) == 2 && (r.args[0] == "-c" || r.args[0] == "-lc") {
			dir := p.dir
			p.read(r.args[1], c)
			p.dir = dir
			return
		}
	case "cat":
		p.write(r.target, r.stdin)
	case "tee":
		if len(r.args) > 0 {
			p.write(r.args[len(r.args)-1], r.stdin)
		}
	}
	p.runs = append(p.runs, r)
}

// redirect reads the here-document of a command, the file that takes its output, and what the text lacks.
func (p *shellParser) redirect(s *syntax.Stmt, r *run) {
	r.lacks = strings.HasPrefix(strings.TrimLeft(p.line[s.End().Offset():], " \t"), "#")
	for _, d := range s.Redirs {
		r.lacks = r.lacks || d.N == nil && slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.Hdoc,
			syntax.DashHdoc, syntax.WordHdoc}, d.Op)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			r.stdin, _ = p.expanded(d.Hdoc, expand.Document)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			r.target, _ = p.value(d.Word)
		}
	}
}

func (p *shellParser) write(name, text string) {
	if name != "" && text != "" {
		p.wrote = append(p.wrote, textFile{join(p.dir, name), text})
	}
}

func (p *shellParser) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(p.line) || from > to {
		return ""
	}
	return p.line[from:to]
}

// value returns a word without its quoting. A substitution that prints a here-document is
// replaced by it; any other expansion makes the word dynamic.
func (p *shellParser) value(w *syntax.Word) (text string, dynamic bool) {
	return p.expanded(w, expand.Literal)
}

func (p *shellParser) expanded(
	w *syntax.Word, expansion func(*expand.Config, *syntax.Word) (string, error),
) (text string, dynamic bool) {
	variable := func(name string) string {
		switch {
		case name == "IFS":
			return ""
		case name == "HOME":
			return "~"
		case strings.HasPrefix(name, "HOME "): // ~ann is looked up as "HOME ann"
			return "~" + name[len("HOME "):]
		}
		dynamic = true
		return "$" + name
	}
	substitution := func(out io.Writer, x *syntax.CmdSubst) error {
		text, unknown := p.source(x), true
		if here := printed(x); here != nil {
			text, unknown = p.expanded(here, expand.Document)
		}
		dynamic = dynamic || unknown
		_, err := io.WriteString(out, text)
		return err
	}
	process := func(x *syntax.ProcSubst) (string, error) {
		dynamic = true
		return p.source(x), nil
	}
	config := expand.Config{Env: expand.FuncEnviron(variable), CmdSubst: substitution, ProcSubst: process}
	text, err := expansion(&config, w)
	if err != nil {
		return p.source(w), true
	}
	return text, dynamic
}

// printed returns the here-document that a substitution such as $(cat <<'EOF' …) prints.
func printed(x *syntax.CmdSubst) *syntax.Word {
	if len(x.Stmts) != 1 || len(x.Stmts[0].Redirs) != 1 {
		return nil
	}
	c, ok := x.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) != 1 || c.Args[0].Lit() != "cat" {
		return nil
	}
	return x.Stmts[0].Redirs[0].Hdoc
}

// wrapper counts the leading words of wrappers such as sudo, with their options.
func wrapper(words []string) int {
	i := 0
	for i < len(words) {
		switch path.Base(words[i]) {
		case "sudo", "time", "nohup", "command", "exec", "env", "nice":
			i++
		case "timeout", "gtimeout":
			for i++; i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
			}
			i++ // the duration
		default:
			return i
		}
		for i < len(words) && (strings.HasPrefix(words[i], "-") || strings.Contains(words[i], "=")) {
			i++
		}
	}
	return i
}

// join resolves a path against a directory; "~" and absolute paths stay.
func join(dir, p string) string {
	if dir == "" || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// words returns the words of a run that are not options, the program first.
func (r *run) words() []string {
	out := []string{r.program}
	for _, w := range r.args {
		if !strings.HasPrefix(w, "-") {
			out = append(out, w)
		}
	}
	return out
}

// option returns the value of an option by any of its names, and whether it was given.
func (r *run) option(names ...string) (string, bool) {
	if all := r.options(names...); len(all) > 0 {
		return all[0], true
	}
	return "", false
}

// options returns every value of an option that may be given more than once.
func (r *run) options(names ...string) []string {
	var out []string
	for i, w := range r.args {
		name, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(r.args) {
			value = r.args[i+1]
		}
		if slices.Contains(names, name) {
			out = append(out, value)
		}
	}
	return out
}
