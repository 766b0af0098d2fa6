package extract

import (
	"cmp"
	"strings"

	"memoir"
	"memoir/internal/lazyregexp"
)

var (
	firstSpan   = lazyregexp.New("`([^`]+)`")
	inDirectory = lazyregexp.New("^ in `([^`]+)`")
	quotation   = lazyregexp.New(`“([^“”]+)”`)
)

// fill sets the fields of a statement that a language model wrote, from the forms that the prompt asks for.
func fill(st *memoir.Statement) {
	st.Signal = memoir.SignalModel
	span := firstSpan.FindStringSubmatchIndex(st.Text)
	code := ""
	if span != nil {
		code = strings.TrimSpace(st.Text[span[2]:span[3]])
	}
	switch st.By = memoir.ByAgent; st.Kind {
	case memoir.StatementPreference:
		st.By = memoir.ByPerson
		if m := quotation.FindStringSubmatch(st.Text); m != nil {
			st.Quote = m[1]
		}
	case memoir.StatementTask:
		st.By = memoir.ByPerson
		_, st.Outcome, _ = strings.Cut(st.Text, " → ")
	case memoir.StatementOutcome:
		st.Outcome, st.Detail, _ = strings.Cut(st.Text, " — ")
	case memoir.StatementCommand:
		if st.By = memoir.ByTool; code != "" {
			fillCommand(st, code, st.Text[:span[0]], st.Text[span[1]:])
		}
	case memoir.StatementFailure:
		st.By = memoir.ByTool
		command, rest, _ := strings.Cut(st.Text, " failed")
		message, remedy, _ := strings.Cut(rest, "; ")
		st.Command, st.Error = strings.Trim(command, "` "), strings.Trim(message, ":` ")
		st.Error, st.Cause, _ = strings.Cut(st.Error, ", as ")
		st.Signature = memoir.Signature(st.Error)
		if fix, ok := strings.CutPrefix(remedy, "fixed by "); ok {
			st.Fix = strings.Trim(fix, "` ")
		}
	case memoir.StatementFile:
		if st.By = memoir.ByTool; code != "" && plainPath(code) {
			st.Paths = []string{code}
		}
	case memoir.StatementEnvironment:
		st.By = memoir.ByTool
	}
}

// fillCommand sets the fields of a command of the form "PURPOSE: `CMD` in `DIR`". It guesses a purpose that is not
// named.
func fillCommand(st *memoir.Statement, line, before, behind string) {
	st.Command = line
	if m := inDirectory.FindStringSubmatch(behind); m != nil && m[1] != "." {
		st.Dir = m[1]
	}
	st.Purpose = strings.ToLower(strings.Trim(before, ": "))
	if !purposes[st.Purpose] {
		st.Purpose = ""
		if runs, _ := newShellParser().parse(line, ""); len(runs) > 0 {
			st.Purpose, _ = runs[0].purpose()
		}
		st.Purpose = cmp.Or(st.Purpose, forRun)
	}
}

var purposes = map[string]bool{forTest: true, forLint: true, forFormat: true, forCheck: true, forBuild: true,
	forGenerate: true, forRelease: true, forSetup: true, forRun: true}
