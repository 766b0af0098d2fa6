package secrets

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// Some files are a secret as a whole: only their name says so, such as .vault_pass,
// master.key or /run/secrets/db. What such a file holds is read as a line of
// `"password":"value"`, so that the rules for passwords say what is none.

const (
	minFileSecret = 8 // bytes, as for all secrets that are to be known elsewhere
	maxFileSecret = 512
	maxFileLines  = 64
)

// secretFile matches the path of a file that holds nothing but a secret, alone or, where
// its name says so, behind that of a user.
var secretFile = lazyregexp.New(`(?i)(?:^|[/\\])(?:` +
	`\.?(?:[\w-]{1,40}[._-]|ansible|vault|db|root|admin|my|api|auth)?(?:password|passwd|passphrase|passcode|passwort` +
	`|pass|pwd|secret|token|psk|` +
	`(?:api|secret|access|private|encryption|master|signing|license)[._-]?key)s?(?:[._-]?file)?(?:\.(?:txt|key|pw|pwd` +
	`|pass|secret|dat|asc|conf))?` +
	`|master\.key|credentials[/\\][\w.-]{1,60}\.key|credentials\.yml\.key|\.erlang\.cookie` +
	`|(?:var[/\\])?run[/\\]secrets[/\\][\w./-]{1,80}` +
	`|[\w-]{0,40}\.secrets?|(?:[\w-]{1,40}[._-])?(?:auth|up|userpass|creds?|credentials|login)\.(?:txt|conf|dat)` +
	`|\.?passwd-s3fs)$`)

// secretFileParts are in lower case; each path that secretFile matches has one.
var secretFileParts = []string{"pass", "pwd", "secret", "token", "psk", "key", "cookie", "auth", "cred", "login", "up."}

// inFile lists the values in a text that are secrets since a file of that name holds them.
func inFile(name, text string) []string {
	if len(text) > maxFileSecret*4 || !secretFile.MatchString(name) {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > maxFileLines {
		return nil
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(lineMark.ReplaceAllString(line, ""))
	}
	values := lines
	if pairs := passwordsOf(lines); pairs != nil {
		values = pairs
	} else if len(lines) == 2 && loginName.MatchString(lines[0]) { // above its password
		values = lines[1:]
	} else if len(lines) > 1 {
		return nil
	}
	return slices.DeleteFunc(values, func(v string) bool {
		return len(v) < minFileSecret || len(v) > maxFileSecret || strings.ContainsAny(v, " \t\"\\<>{}$=") ||
			strings.Count(v, ":") > 3 || secretFile.MatchString(v)
	})
}

// passwordsOf is what stands behind the users of a file each line of which has one; nil of
// any other.
func passwordsOf(lines []string) []string {
	var out []string
	for _, line := range lines {
		user, password, ok := strings.Cut(line, ":")
		if !ok || !loginName.MatchString(user) || strings.ContainsAny(password, ":/ \t") && len(lines) > 1 ||
			strings.HasPrefix(password, "//") {
			return nil
		}
		out = append(out, password)
	}
	return out
}

var loginName = lazyregexp.New(`^[\w.@+-]{1,64}$`)

// lineMark is how tools number the lines that they show.
var lineMark = lazyregexp.New(`^[ \t]{0,8}\d{1,5}(?:→|\t|: |\| )`)

// asNamed writes a value as rules know it.
func asNamed(value string) string { return `"password":"` + value + `"` }

// File takes up what nothing but the name of its file tells to be a secret, so that it
// goes from the texts that follow, and reports whether there is any. Nothing is counted.
func (r *Redactor) File(name, text string) bool {
	found := false
	for _, value := range inFile(name, text) {
		found = r.Learn(asNamed(value)) || found
	}
	return found
}

// FindFile is Find with what nothing but the name of its file tells to be a secret.
func (s *Scanner) FindFile(name, text string) []Finding {
	found := s.Find(text)
	before := len(text) // several users may have the same password, and one may be named like it
	for _, value := range slices.Backward(inFile(name, text)) {
		at := strings.LastIndex(text[:before], value)
		before = at
		covered := false
		for _, f := range found {
			covered = covered || f.Start < at+len(value) && at < f.End
		}
		if told := s.Find(asNamed(value)); len(told) > 0 && !covered {
			place := cursor{text: text, line: 1, column: 1}
			place.move(at)
			found = append(found, Finding{Rule: told[0].Rule, Start: at, End: at + len(value), Line: place.line,
				Column: place.column, Hint: hint(value)})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	return found
}

// readsFile matches a command that puts out a file as it is, and the file's name.
var readsFile = lazyregexp.New(`(?:^|[;&|(\s])(?:cat|bat|batcat|tac|head|tail|less|more|nl|type|gc` +
	`|Get-Content)(?:[ \t]+-[\w=-]+)*[ \t]+["']?([^\s"'|;&<>()]+)|\$\(<[ \t]*["']?([^\s"'|;&<>()]+)`)

// writesFile matches a command that puts a word into a file, the word and the file's name.
var writesFile = lazyregexp.New(`(?:echo|printf)(?:[ \t]+-\w+)*[ \t]+(?:'%s(?:\\n)?'[ \t]+` +
	`|"%s(?:\\n)?"[ \t]+)?["']?([^\s"'|;&<>()]+)["']?` +
	`[ \t]*(?:>>?|\|[ \t]*(?:sudo[ \t]+)?tee(?:[ \t]+-a)?)[ \t]*["']?([^\s"'|;&<>()]+)`)

// Where the arguments of tools have the name of a file and what is written to it.
var (
	pathArguments = []string{"file_path", "path", "filePath", "filename", "absolute_path", "target_file", "abs_path",
		"file"}
	contentArguments = []string{"content", "text", "file_text", "contents"}
)

// filesOf takes up the secrets in the files that a tool call reads and writes.
func (r *Redactor) filesOf(it memoir.Item) {
	if it.Kind != memoir.ItemTool || len(it.Input) > maxFileSecret*4 {
		return
	}
	lower := strings.ToLower(it.Input)
	if !slices.ContainsFunc(secretFileParts, func(part string) bool { return strings.Contains(lower, part) }) {
		return
	}
	if strings.HasPrefix(it.Input, "{") {
		name := argument(it.Input, pathArguments)
		if name == "" || !secretFile.MatchString(name) {
			return
		}
		r.File(name, it.Output)
		r.File(name, argument(it.Input, contentArguments))
		return
	}
	if len(it.Output) <= maxFileSecret*4 {
		for _, m := range readsFile.FindAllStringSubmatch(it.Input, -1) {
			r.File(m[1]+m[2], it.Output)
		}
	}
	for _, m := range writesFile.FindAllStringSubmatch(it.Input, -1) {
		r.File(m[2], m[1])
	}
}

func argument(arguments string, names []string) string {
	for _, name := range names {
		if v := gjson.Get(arguments, name); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}
