package extract

import (
	"slices"
	"strings"

	"memoir"
)

const maxExpansion = 140 // bytes of what a script is said to run

// expansions are the forms in which task runners print a task and what it runs.
var expansions = []*pattern{
	newPattern(`(?m)^\[([\w:.@/-]+)\] \$ (.+)$`),
	newPattern(`(?m)^task: \[([^\]]+)\] (.+)$`),
	newPattern(`(?m)^()\$ (.+)$`), // without the task
}

// npmScript is how npm and pnpm name a script and print what it runs.
var npmScript = newPattern(`(?m)^> (\S+@\S+) (\S+)(?: [^\n]*)?\n> ([^\n]+)$`)

// expansion is what a task or package script runs, as its runner printed it; empty
// if the runner printed nothing, or no more than a path to a script. alone
// tells that no other command ran with it.
func expansion(c command, alone bool, output string) string {
	head := clean(output[:min(len(output), 4<<10)])
	words := strings.Fields(c.text)
	if len(words) > 2 && words[0] == "cd" {
		words = words[3:]
	}
	if len(words) < 2 {
		return ""
	}
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun", "mise", "task", "just", "turbo", "nx", "npx", "make":
	default:
		return ""
	}
	var text string
	task := words[1]
	args := words[2:]
	if (task == "run" || task == "run-script" || task == "r") && len(words) > 2 {
		task, args = words[2], words[3:]
	}
	if !strings.Contains(head, "$ ") && !strings.Contains(head, "> ") && !strings.Contains(head, "task: [") {
		return ""
	}
	if m := npmScript.FindStringSubmatch(head); m != nil {
		if m[2] == task {
			text = m[3]
		}
	} else {
		for _, form := range expansions {
			if m := form.FindStringSubmatch(head); m != nil && (m[1] == task || m[1] == "" && alone) {
				text = m[2]
				break
			}
		}
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.ContainsAny(text, "`") || strings.HasSuffix(text, "…") || strings.Contains(c.text, text) || !strings.Contains(text, " ") {
		return ""
	}
	for _, w := range slices.Backward(args) { // the arguments are those of this run
		text = strings.TrimSuffix(text, " "+w)
	}
	return shorten(text, maxExpansion)
}

// hookMark is how frameworks for hooks, and scripts of projects, report a check.
var (
	hookStep  = newPattern(`(?m)^(?:\[\w+\] )?([A-Za-z][\w .:/()-]{2,60}?)\.{3,}\s*(?:Passed|Failed|Skipped|\(no files to check\)Skipped)`)
	lefthook  = newPattern(`(?m)^\s*(?:┃|│)\s+([\w:.-]+) ❯|^✔️\s+([\w:.-]+)`)
	stagedRun = newPattern(`(?m)^\s*(?:\[STARTED\]|❯|✔)\s+([^\n]{3,80})$`)
)

// hooks tells what runs when one commits, as far as git commit printed it before
// the commit.
func hooks(r *reading) []found {
	var texts []string
	items := map[string][]int{}
	for _, run := range r.runs {
		if !strings.Contains(run.line, "git ") || !strings.Contains(run.line, "commit") || run.unknown {
			continue
		}
		output := clean(run.output)
		if at := committed.FindStringIndex(output); at != nil {
			output = output[:at[0]]
		} else if !run.failed {
			continue
		}
		if text := hooked(output); text != "" {
			if len(items[text]) == 0 {
				texts = append(texts, text)
			}
			items[text] = append(items[text], run.item)
		}
	}
	best := ""
	for _, text := range texts {
		if len(items[text]) > len(items[best]) {
			best = text
		}
	}
	if best == "" {
		return nil
	}
	return []found{{memoir.Statement{Kind: memoir.StatementEnvironment, Text: best, Items: firstAndLast(items[best], 3)}, 3.2}}
}

// hooked renders what the hook of a commit printed.
func hooked(output string) string {
	const head = "`git commit` runs a hook here: "
	if m := npmScript.FindStringSubmatch(output); m != nil && !strings.Contains(m[3], "`") {
		return head + "the script " + code(m[2]) + ", that is " + code(shorten(m[3], maxExpansion))
	}
	var names []string
	for _, form := range []*pattern{hookStep, lefthook, stagedRun} {
		if form == stagedRun && !strings.Contains(output, "lint-staged") && !strings.Contains(output, "staged files") {
			continue
		}
		for _, m := range form.FindAllStringSubmatch(output, 8) {
			for _, name := range m[1:] {
				if name = strings.TrimSpace(name); name != "" && !strings.Contains(strings.Join(names, ", "), name) && !strings.ContainsAny(name, "`") {
					names = append(names, name)
				}
			}
		}
		if len(names) > 0 {
			return head + shorten(strings.Join(names, ", "), maxExpansion)
		}
	}
	for _, form := range expansions {
		if m := form.FindStringSubmatch(output); m != nil && !strings.ContainsAny(m[2], "`") {
			return head + code(shorten(m[2], maxExpansion))
		}
	}
	lower := strings.ToLower(output)
	for _, p := range []string{"pre-commit", "precommit", "husky", "lefthook", "lint-staged"} {
		if strings.Contains(lower, p) && !strings.Contains(lower, "not found") && !strings.Contains(lower, "skipping") {
			if line := firstLine(output); line != "" {
				return head + quote(shorten(line, 100))
			}
		}
	}
	return ""
}
