package extract

import (
	"slices"
	"strings"
)

// defines is the head of a definition in most languages: what is defined is its
// last group.
var defines = []*pattern{
	newPattern(`^\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|final|abstract|override|async|unsafe|extern|suspend|inline|open|data|sealed|virtual|partial|@\w+)\s+)*(?:func|fn|def|defp|class|struct|enum|trait|interface|module|defmodule|function|fun|object|protocol|record|sub|macro_rules!)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_][\w.]{2,60})`),
	newPattern(`^\s*(?:export\s+)?(?:pub\s+)?type\s+([A-Za-z_]\w{2,60})\s*(?:[=<\[]|struct\b|interface\b|func\b|\w)`),
	newPattern(`^\s*(?:export\s+)?(?:const|let|var)\s+([A-Za-z_]\w{2,60})\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>`),
	newPattern(`^\s*(?:create|CREATE)\s+(?:or replace\s+|OR REPLACE\s+)?(?:table|TABLE|view|VIEW|function|FUNCTION)\s+(?:if not exists\s+|IF NOT EXISTS\s+)?([A-Za-z_][\w.]{2,60})`),
}

// defined lists the names that lines of code define, each once.
func defined(lines string) []string {
	var out []string
	known := map[string]bool{}
	for line := range strings.Lines(lines) {
		if len(line) > 300 || !mayDefine(line) || strings.HasSuffix(strings.TrimSpace(line), ",") {
			continue
		}
		for _, form := range defines {
			if m := form.FindStringSubmatch(line); m != nil {
				if name := m[1]; !known[name] && !ordinary[name] {
					known[name] = true
					out = append(out, name)
				}
				break
			}
		}
	}
	return out
}

// mayDefine is a cheap test that a line which defines something passes.
func mayDefine(line string) bool {
	for _, word := range []string{"func ", "fn ", "def", "class ", "struct ", "enum ", "trait ", "interface ", "module ", "function ", "fun ", "object ", "protocol ", "record ", "sub ", "macro_rules! ", "type ", "=>", "able ", "ABLE ", "iew ", "IEW "} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// ordinary names say nothing of what is defined.
var ordinary = map[string]bool{"main": true, "new": true, "init": true, "from": true, "default": true, "self": true, "this": true, "test": true, "tests": true, "setup": true, "teardown": true, "constructor": true, "toString": true, "String": true, "Error": true, "__init__": true, "that": true, "name": true}

// A fileLedger knows what a session did to files: what it defined in them, which it
// removed and where it moved them.
type fileLedger struct {
	names   map[string]*nameList      // by path
	gone    map[string]int            // item by path
	moved   map[string]string         // new path by old one
	written []string                  // all names at the end, sorted; nil until asked for
	net     map[string]map[string]int // by path: lines, and how often more they were added than taken away
}

// note enters the definitions that an edit adds and removes.
func (l *fileLedger) note(p, before, after string) {
	if l.names == nil {
		l.names = map[string]*nameList{}
	}
	l.count(p, before, -1)
	l.count(p, after, 1)
	if head := after[:min(len(after), 600)]; strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@generated") {
		return // what a generator defines is not found by its name in the session
	}
	was, is := defined(before), defined(after)
	if len(was) == 0 && len(is) == 0 {
		return
	}
	names := l.names[p]
	if names == nil {
		names = &nameList{at: map[string]int{}}
		l.names[p] = names
	}
	earlier, later := setOf(was), setOf(is)
	for _, n := range was {
		if !later[n] {
			names.remove(n)
		}
	}
	for _, n := range is {
		if !earlier[n] {
			names.add(n)
		}
	}
}

// wrote reports whether the edits of a session left the definition of a name behind, or
// of one that begins with it, as the filters of test runners allow.
func (l *fileLedger) wrote(name string) bool {
	if l.written == nil {
		l.written = []string{}
		for _, names := range l.names {
			l.written = append(l.written, names.list()...)
		}
		slices.Sort(l.written)
	}
	at, whole := slices.BinarySearch(l.written, name)
	return whole || len(name) >= 2*minName && at < len(l.written) && strings.HasPrefix(l.written[at], name)
}

// count enters lines that an edit adds or takes away.
func (l *fileLedger) count(p, lines string, by int) {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if l.net == nil {
			l.net = map[string]map[string]int{}
		}
		net := l.net[p]
		if net == nil {
			net = map[string]int{}
			l.net[p] = net
		}
		if net[line] += by; net[line] == 0 {
			delete(net, line)
		}
	}
}

// restored reports whether the edits of a file cancel each other out.
func (l *fileLedger) restored(p string) bool {
	net, known := l.net[p]
	return known && len(net) == 0
}

func setOf(list []string) map[string]bool {
	out := make(map[string]bool, len(list))
	for _, s := range list {
		out[s] = true
	}
	return out
}

// A nameList is names in the order in which they came, each once.
type nameList struct {
	at  map[string]int
	all []string // empty where a name was removed
}

func (l *nameList) add(name string) {
	if _, ok := l.at[name]; !ok {
		l.at[name] = len(l.all)
		l.all = append(l.all, name)
	}
}

func (l *nameList) remove(name string) {
	if at, ok := l.at[name]; ok {
		l.all[at] = ""
		delete(l.at, name)
	}
}

func (l *nameList) list() []string {
	if l == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.all), func(name string) bool { return name == "" })
}

func (l *fileLedger) remove(p string, item int) {
	if l.gone == nil {
		l.gone = map[string]int{}
	}
	l.gone[p] = item
}

func (l *fileLedger) move(from, to string) {
	if l.moved == nil {
		l.moved = map[string]string{}
	}
	if from != to && from != "" && to != "" {
		l.moved[from] = to
		delete(l.moved, to)
		delete(l.gone, to)
	}
}

// now is where a file is at the end, "" if it was removed after an item.
func (l *fileLedger) now(p string, item int) string {
	for range 8 {
		to, ok := l.moved[p]
		if !ok {
			break
		}
		p = to
	}
	if at, ok := l.gone[p]; ok && at >= item {
		return ""
	}
	return p
}

var (
	renamed = newPattern(`(?m)^ rename (.+) \(\d+%\)$`)
	deleted = newPattern(`(?m)^ delete mode \d+ (.+)$`)
)

// follow enters what a command line did to files: rm, mv, and what git reports of
// a commit.
func (l *fileLedger) follow(run *run, cwd, root string) {
	dirs := directories(run.parts, cwd)
	for i, s := range run.parts {
		words, cwd := s.words, dirs[i]
		if s.script || i > 0 && run.parts[i-1].after == "|" {
			continue
		}
		verb := unquote(words[0])
		if verb == "git" && len(words) > 1 && (words[1] == "rm" || words[1] == "mv") {
			words = words[1:]
			verb = words[0]
		}
		var operands []string
		for _, w := range words[1:] {
			if w = unquote(w); !strings.HasPrefix(w, "-") && !strings.ContainsAny(w, "*?$") {
				operands = append(operands, locate(w, cwd, root))
			}
		}
		switch {
		case verb == "rm":
			for _, p := range operands {
				l.remove(p, run.item)
			}
		case verb == "mv" && len(operands) == 2:
			to := operands[1]
			if !strings.Contains(baseOf(to), ".") && strings.Contains(baseOf(operands[0]), ".") {
				to += "/" + baseOf(operands[0])
			}
			l.move(operands[0], to)
		}
	}
	if !strings.Contains(run.line, "git") {
		return
	}
	if strings.Contains(run.output, " delete mode ") {
		for _, m := range deleted.FindAllStringSubmatch(run.output, 100) {
			l.remove(m[1], run.item)
		}
	}
	if strings.Contains(run.output, " rename ") {
		for _, m := range renamed.FindAllStringSubmatch(run.output, 100) {
			l.move(bracedRename(m[1]))
		}
	}
}

// bracedRename reads how git abbreviates a rename: a/{b => c}/d.
func bracedRename(s string) (from, to string) {
	head, rest, ok := strings.Cut(s, "{")
	if !ok {
		from, to, _ = strings.Cut(s, " => ")
		return from, to
	}
	inner, tail, _ := strings.Cut(rest, "}")
	a, b, _ := strings.Cut(inner, " => ")
	join := func(m string) string { return strings.ReplaceAll(head+m+tail, "//", "/") }
	return join(a), join(b)
}
