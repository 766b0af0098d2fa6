package extract

import (
	"path"
	"strings"
)

// A simple is one simple command of a command line, as written.
type simple struct {
	words  []string // with their quoting, without redirections and assignments
	after  string   // the operator behind it: && || ; | or empty
	before []string // assignments and sudo that stood in front
	script bool     // fed by a here document or part of a loop: not a command to repeat
	opens  int      // subshells that begin with it
	closes int      // subshells that end with it
}

// splitShell splits a command line into its simple commands. It knows quoting,
// operators, redirections, comments and here documents; it expands nothing.
func splitShell(line string) []simple {
	var out []simple
	var cur simple
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			cur.words = append(cur.words, word.String())
			word.Reset()
			inWord = false
		}
	}
	endSimple := func(op string) {
		endWord()
		cur.after = op
		if len(cur.words) > 0 {
			out = append(out, cur)
		} else if len(out) > 0 && op != "" && out[len(out)-1].after == "" {
			out[len(out)-1].after = op
		}
		cur = simple{}
	}
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			if line[i+1] != '\n' {
				word.WriteString(line[i : i+2])
				inWord = true
			}
			i += 2
		case c == '\'' || c == '"' || c == '`':
			end := quoteEnd(line, i)
			word.WriteString(line[i:end])
			inWord = true
			i = end
		case c == '$' && strings.HasPrefix(line[i:], "$("):
			end := parenEnd(line, i+1)
			word.WriteString(line[i:end])
			inWord = true
			i = end
		case c == ' ' || c == '\t':
			endWord()
			i++
		case c == '#' && !inWord:
			if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
				i += end
			} else {
				i = len(line)
			}
		case c == '\n' || c == ';':
			endSimple(";")
			i++
		case c == '&' && i+1 < len(line) && line[i+1] == '&':
			endSimple("&&")
			i += 2
		case c == '|':
			op := "|"
			if i+1 < len(line) && line[i+1] == '|' {
				op = "||"
			}
			endSimple(op)
			i += len(op)
			if i < len(line) && line[i] == '&' {
				i++
			}
		case c == '&' && i+1 < len(line) && line[i+1] == '>':
			endWord()
			i = redirectEnd(line, i+2)
		case c == '&':
			endSimple("&")
			i++
		case c == '<' && strings.HasPrefix(line[i:], "<<") && !strings.HasPrefix(line[i:], "<<<"):
			endWord()
			cur.script = true
			i = hereEnd(line, i)
		case c == '>' || c == '<':
			if inWord && strings.Trim(word.String(), "0123456789") == "" {
				word.Reset()
				inWord = false
			}
			endWord()
			for i < len(line) && (line[i] == '>' || line[i] == '<' || line[i] == '|') {
				i++
			}
			i = redirectEnd(line, i)
		default:
			word.WriteByte(c)
			inWord = true
			i++
		}
	}
	endSimple("")
	return dropPrefixes(out)
}

// quoteEnd is where the quotation that begins at i ends. Between single quotation
// marks a backslash stands for itself, unless a dollar sign stands in front of them.
func quoteEnd(s string, i int) int {
	q := s[i]
	raw := q == '\'' && !escaping(s, i)
	for j := i + 1; j < len(s); j++ {
		if s[j] == '\\' && !raw {
			j++
		} else if s[j] == q {
			return j + 1
		}
	}
	return len(s)
}

// escaping reports whether the single quotation mark at i is that of $'…', in
// which backslashes escape.
func escaping(s string, i int) bool {
	return i > 0 && s[i-1] == '$' && (i == 1 || s[i-2] != '\\' && s[i-2] != '$')
}

func parenEnd(s string, i int) int {
	depth := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '\'', '"':
			j = quoteEnd(s, j) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return len(s)
}

// redirectEnd skips the target of a redirection.
func redirectEnd(s string, i int) int {
	if i < len(s) && s[i] == '&' {
		i++
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	for i < len(s) && strings.IndexByte(" \t\n;|&<>", s[i]) < 0 {
		if s[i] == '\'' || s[i] == '"' {
			i = quoteEnd(s, i)
			continue
		}
		i++
	}
	return i
}

// hereEnd skips a here document that begins at i with <<.
func hereEnd(s string, i int) int {
	eol := strings.IndexByte(s[i:], '\n')
	if eol < 0 {
		return len(s)
	}
	mark, _, _ := strings.Cut(strings.TrimLeft(s[i+2:i+eol], "- \t"), " ")
	mark = strings.Trim(mark, `'"\;|&)`)
	rest := s[i+eol:]
	if mark == "" {
		return len(s)
	}
	if end := strings.Index(rest, "\n"+mark); end >= 0 {
		return i + eol + end + 1 + len(mark)
	}
	return len(s)
}

// compound words begin or join shell control structures.
var compound = map[string]bool{
	"for": true, "while": true, "until": true, "if": true, "case": true, "then": true, "else": true, "elif": true,
	"fi": true, "do": true, "done": true, "esac": true, "function": true, "{": true, "}": true, "[[": true, "((": true, "!": true,
}

// dropPrefixes removes what stands before a command and does not change what it
// does: assignments, timers, privileges, and the parentheses of a subshell.
func dropPrefixes(in []simple) []simple {
	var out []simple
	loop := false
	for _, s := range in {
		if len(s.words) > 0 {
			first := s.words[0]
			s.words[0] = strings.TrimLeft(first, "(")
			s.opens = len(first) - len(s.words[0])
			last := len(s.words) - 1
			if trimmed := strings.TrimRight(s.words[last], ")"); !strings.Contains(trimmed, "(") {
				s.closes = len(s.words[last]) - len(trimmed)
				s.words[last] = trimmed
			}
		}
		for len(s.words) > 0 {
			w := s.words[0]
			switch {
			case w == "" || assignment(w):
				if w != "" {
					s.before = append(s.before, w)
				}
				s.words = s.words[1:]
				continue
			case w == "command" && len(s.words) > 1 && strings.HasPrefix(s.words[1], "-"):
				// "command -v x" asks where x is; it stays, as a reader.
			case w == "time" || w == "nohup" || w == "command" || w == "exec" || w == "env" || w == "caffeinate" || w == "stdbuf" || w == "nice":
				s.words = dropFlags(s.words[1:])
				continue
			case w == "sudo":
				s.before = append(s.before, w)
				s.words = dropFlags(s.words[1:])
				continue
			case w == "timeout" || w == "gtimeout":
				s.words = dropFlags(s.words[1:])
				if len(s.words) > 0 {
					s.words = s.words[1:]
				}
				continue
			}
			break
		}
		if len(s.words) == 0 {
			if len(out) > 0 {
				out[len(out)-1].closes += s.closes
			}
			continue
		}
		if compound[s.words[0]] {
			loop = true
		}
		s.script = s.script || loop
		out = append(out, s)
	}
	return out
}

func dropFlags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	return words
}

func assignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// unquote removes the quotation marks around a whole word.
func unquote(w string) string {
	if len(w) >= 2 && (w[0] == '\'' || w[0] == '"') && w[len(w)-1] == w[0] {
		return w[1 : len(w)-1]
	}
	return w
}

// relative expresses a path below root relative to it; other paths stay as they are.
func relative(p, root string) string {
	if root == "" || root == "/" {
		return p
	}
	root = strings.TrimRight(root, "/")
	if p == root {
		return "."
	}
	if rest, ok := strings.CutPrefix(p, root+"/"); ok {
		return path.Clean(rest)
	}
	return p
}
