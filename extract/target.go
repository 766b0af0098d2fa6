package extract

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

// A Target is what a command needs of a working tree: a definition in one of some files, or one of some paths. Both are
// relative to the top; "*/" is any directory.
type Target struct {
	Name  string
	Files []string // that may define it
	Paths []string // that may be it, with any extension
	form  string
}

// Defined reports whether a file defines the target, perhaps beside others, by a pattern, or in one that it includes.
func (t Target) Defined(text string) bool {
	return regexp.MustCompile(strings.ReplaceAll(t.form, "NAME", regexp.QuoteMeta(t.Name))).MatchString(text)
}

const (
	inMakefile = `(?m)^(?:[-s]?include|import|mod|includes)\b|^(?:[^\t#\n:]*\s)?NAME(?:\s[^\n:]*)?:` +
		`|^[^\t#\n:]*[%$][^\n:]*:`
	inJSON  = `"NAME"\s*:`
	inCargo = `(?m)^\s*name\s*=\s*["']NAME["']`
)

// targets lists how the words of programs name targets or scripts in all trees, the files that define these, and the
// directories that have them. What other programs name is known from the tree of the session; see seen.word.
var targets = []struct{ programs, names, files, paths, form string }{
	{"make gmake", `(.+)`, "Makefile GNUmakefile makefile", "", inMakefile},
	{"task", `(.+)`, "Taskfile.yml Taskfile.yaml taskfile.yml Taskfile.dist.yml", "", inMakefile},
	{"just", `^(\S+)`, "justfile Justfile .justfile", "", inMakefile},
	{"npm pnpm yarn", `^(?:run(?:-script)? (\S+)|(test)\b)`, "package.json", "", inJSON},
	{"bun", `^run (\S+)`, "package.json", "", inJSON},
	{"pre-commit", `^run (\S+)`, ".pre-commit-config.yaml", "", `\bid:\s*["']?NAME\b`},
	{"pre-commit", `^(run)$`, ".pre-commit-config.yaml", "", `(?m)^repos:`},
	{"cargo", `(?:-p|--package)[ =](\S+)`, "*/Cargo.toml", "", inCargo},
	{"cargo", `--bin[ =](\S+)`, "*/Cargo.toml", "*/src/bin", inCargo},
	{"cargo", `--example[ =](\S+)`, "*/Cargo.toml", "*/examples", inCargo},
	{"cargo", `--test[ =](\S+)`, "*/Cargo.toml", "*/tests", inCargo},
}

// entryIn returns the first target or script of a command as its file writes it, and the possible files.
func (r *run) entryIn() (files []string, entry string) {
	words := r.operands()
	if len(words) > 1 && (words[0] == "run" || words[0] == "run-script") {
		words = words[1:]
	}
	for _, kind := range targets {
		switch {
		case !slices.Contains(strings.Fields(kind.programs), r.program) || len(words) == 0:
		case kind.form == inMakefile:
			return strings.Fields(kind.files), words[0] + ":"
		case kind.form == inJSON:
			return strings.Fields(kind.files), `"` + words[0] + `":`
		}
	}
	return nil, ""
}

// buildFiles are files that define what programs run; programs by which no file is named follow a "=".
const buildFiles = "Makefile=make GNUmakefile=make makefile=make Taskfile.yml=task Taskfile.yaml=task go.mod=go " +
	".cargo/config.toml=cargo Rakefile noxfile.py tox.ini pyproject.toml hatch.toml mise.toml .mise.toml deno.json " +
	"deno.jsonc Cargo.toml pom.xml=mvn,mvnw build.gradle=gradle,gradlew build.gradle.kts=gradle,gradlew " +
	"CMakeLists.txt BUILD=bazel BUILD.bazel .pre-commit-config.yaml compose.yaml=docker compose.yml=docker " +
	"docker-compose.yaml gulpfile.js Gruntfile.js docker-compose.yml turbo.json nx.json mix.exs Earthfile=earthly " +
	"tasks.py dodo.py=doit fabfile.py pixi.toml meson.build justfile composer.json build.ninja=ninja build.sbt=sbt " +
	"build.xml=ant project.clj=lein lefthook.yml package.json=npm,npx,pnpm,yarn,bun"

var programsOf = lazyregexp.New(`=\S+`)

// builds reports whether a file defines what a program runs.
func builds(file, text, program string) bool {
	for one := range strings.FieldsSeq(buildFiles) {
		if name, programs, _ := strings.Cut(one, "="); name == file {
			_, named := memoir.Token(text, program, 0)
			return named || strings.HasPrefix(strings.ToLower(strings.TrimPrefix(file, ".")), program) ||
				slices.Contains(strings.Split(programs, ","), program)
		}
	}
	return false
}

// word returns the first word of a command that stands in a file which has the command's program as its name or in its
// text. Once it stands there no more, the command cannot be run. The program's own subcommands do not count.
func (v *seen) word(r *run, look func(string) (string, bool)) (memoir.Anchor, bool) {
	for i, arg := range r.args {
		name, g := grammarOf(r.program, arg)
		dir, at := r.dir, arg[strings.LastIndexAny(arg, ":=")+1:]
		if label, ok := strings.CutPrefix(arg, "//"); ok { // of Bazel
			dir, _, _ = strings.Cut(label, ":")
		}
		own := i == 0 && (g == bySubcommand || name != path.Base(r.program))
		if own || len(at) < 2 || strings.Trim(at, digits) == "" || strings.ContainsAny(at, "/.*@") ||
			strings.HasPrefix(at, "-") {
			continue
		}
		for _, file := range strings.Fields(programsOf.ReplaceAllString(buildFiles, "")) {
			a := memoir.Anchor{Path: v.relative(dir, file), Text: at}
			text, _ := look(a.Path)
			if builds(file, text, name) && a.In(text) == memoir.Present {
				return a, true
			}
		}
	}
	return memoir.Anchor{}, false
}

// inDir are options that name the directory in which a command runs, fileOptions those that name the file with targets.
var (
	inDir       = []string{"-C", "--directory", "--prefix", "--dir", "--cd", "--cwd"}
	fileOptions = []string{"-f", "--file", "--makefile", "--justfile", "-t", "--taskfile"}
)

// operands returns the words of a command that may name targets: no values of options, variables, paths and numbers.
func (r *run) operands() []string {
	valued := r.options(append(slices.Concat(inDir, fileOptions), "-w", "--workspace", "--filter", "-F")...)
	return slices.DeleteFunc(r.words()[1:], func(w string) bool {
		return slices.Contains(valued, w) || strings.ContainsAny(w, "=/") || strings.Trim(w, digits) == ""
	})
}

// commandIn returns the commands in a text of the form "PURPOSE: `CMD` in `DIR`, `CMD`", and what is behind them.
func commandIn(text string) (runs []*run, behind string) {
	purpose, rest, _ := strings.Cut(text, ": ")
	if !purposes[purpose] && purpose != ForCommit || !strings.HasPrefix(rest, "`") {
		return nil, ""
	}
	for span := codeSpans.FindStringIndex(rest); span != nil && span[0] == 0; span = codeSpans.FindStringIndex(rest) {
		in := append(inDirectory.FindStringSubmatch(rest[span[1]:]), "", "")
		some, _ := newShellParser().parse(strings.Trim(rest[:span[1]], "` "), in[1])
		runs, behind = append(runs, some...), rest[span[1]+len(in[0]):]
		rest = strings.TrimLeft(behind, ",& ")
	}
	return runs, behind
}

// Targets returns what the command in a line of a memory needs of a working tree, of which exists tells the paths. It
// leaves out what a tree may have elsewhere.
func Targets(line string, exists func(path string) bool) (out []Target) {
	runs, _ := commandIn(memoir.LineText(line))
	for _, r := range runs {
		if r.dynamic || strings.HasPrefix(r.dir, "~") {
			continue
		}
		if _, g := grammarOf(r.program, append(r.args, "")[0]); g == byOwnCommand && len(r.args) > 1 {
			r.program, r.args = r.args[1], r.args[2:]
		}
		if end := slices.Index(r.args, "--"); end >= 0 {
			r.args = r.args[:end]
		}
		if in, ok := r.option(inDir...); ok {
			r.dir = join(r.dir, in)
		}
		out = append(out, r.defined()...)
		for _, name := range r.needed(exists) {
			if name = (&seen{}).relative(r.dir, name); name != "" {
				out = append(out, Target{Name: name, Paths: []string{name}})
				if Checks(purposeWords[path.Base(r.program)]) { // it may match parts of paths
					out[len(out)-1].Paths = append(out[len(out)-1].Paths, "*/"+name)
				}
			}
		}
	}
	return out
}

// defined returns the targets of a command that files define: those that an option names, or else, for all programs but
// make and cargo, also files in the directories above.
func (r *run) defined() (out []Target) {
	other := r.options(fileOptions...)
	for _, kind := range targets {
		if !slices.Contains(strings.Fields(kind.programs), r.program) {
			continue
		}
		words := r.operands()
		if kind.form == inCargo {
			words = r.args
		}
		m := append(regexp.MustCompile(kind.names).FindStringSubmatch(strings.Join(words, " ")), "")
		for name := range strings.FieldsSeq(strings.Join(m[1:], " ")) {
			t := Target{Name: name, form: kind.form}
			for dir := path.Join(r.dir, "."); ; dir = path.Dir(dir) {
				for file := range strings.FieldsSeq(kind.files) {
					t.Files = append(t.Files, path.Join(dir, file))
				}
				for folder := range strings.FieldsSeq(kind.paths) {
					t.Paths = append(t.Paths, path.Join(dir, folder, strings.ReplaceAll(name, ":", "/")))
				}
				if path.Dir(dir) == dir || kind.form == inCargo || strings.HasSuffix(r.program, "make") {
					break
				}
			}
			for i, file := range other {
				t.Files = append(t.Files[:i], join(r.dir, file))
			}
			if t = r.inPackage(t); t.form != "" && !strings.ContainsAny(name, "./%@*=") {
				out = append(out, t)
			}
		}
	}
	return out
}

// inPackage narrows a script to the package that an option names, or widens it to all packages. It has no form if the
// option is a pattern.
func (r *run) inPackage(t Target) Target {
	in, narrow := r.option("-w", "--workspace", "--filter", "-F")
	_, every := r.option("-r", "--recursive", "-ws", "--workspaces")
	switch {
	case t.form != inJSON:
	case narrow && (in == "" || strings.ContainsAny(in, "*!^{[") || strings.Contains(in, "..")):
		t.form = ""
	case narrow && in[0] != '@' && strings.Contains(in, "/"):
		t.Files = []string{path.Join(r.dir, in, "package.json")}
	case narrow:
		t.Files, t.form = []string{"*/package.json"}, `(?s)"(?:[^"]*/)?`+regexp.QuoteMeta(in)+`".*`+inJSON
	case every:
		t.Files = []string{"*/package.json"}
	}
	return t
}

// switches are options without a value.
var switches = memoir.SetOf("-v -q -s -x -d -race -short -cover -json --fix --check --build --rm --wait --no-deps -T")

// needed returns the paths that a command needs: its program, its script, or what a check reads.
func (r *run) needed(exists func(string) bool) (paths []string) {
	program := path.Base(r.program)
	if program != r.program {
		return []string{r.program}
	}
	reads := Checks(purposeWords[program])
	script := grammars[strings.TrimRight(program, digits+".")] == byScript
	for i, w := range r.args {
		w = strings.TrimSuffix(w, "/...")
		free := i == 0 || !strings.HasPrefix(r.args[i-1], "-") || switches[r.args[i-1]]
		top, _, deep := strings.Cut(w, ".")
		switch {
		case script && i > 0 && r.args[i-1] == "-m" && deep && exists(join(r.dir, top)):
			return []string{strings.ReplaceAll(w, ".", "/")}
		case script && !strings.HasPrefix(w, "-"):
			if pathForm.MatchString(w) && free {
				paths = append(paths, w)
			}
			return paths
		case free && pathForm.MatchString(w) &&
			(reads || program == "go" && (strings.HasPrefix(w, "./") || path.Ext(w) == ".go")):
			paths = append(paths, w)
		}
	}
	return paths
}
