package extract

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"memoir"
)

// letters reads what the agent wrote for people, in order. Texts of calls that
// failed are left out; an edit, a closing or an undoing makes earlier ones void.
func letters(r *reading, in Input) []*posting {
	var out []*posting
	files := &textFiles{}
	for i := range in.Items {
		it := &in.Items[i]
		if it.Kind != memoir.ItemTool || it.Failed || it.Exit != nil && *it.Exit != 0 {
			continue
		}
		addedFiles(it.Input, files)
		if !it.Shell() {
			if p, ok := called(it); ok {
				p.item = it.N
				out = r.arrive(out, &p, it.Output)
			}
		}
		lines := []scriptLine{{it.Input, it.CWD}}
		if !it.Shell() {
			lines = scripted(it.Input)
		}
		for _, l := range lines {
			line := clean(l.text)
			for _, p := range posted(line, files) {
				p.item = it.N
				p.place = r.repository(p.place, cmp.Or(l.dir, it.CWD), in.Session.Remote != "")
				out = r.arrive(out, &p, it.Output)
			}
			undo(out, line)
		}
		r.address(out, it, in.Session.Remote != "")
		rename(out, it)
	}
	return slices.DeleteFunc(out, func(p *posting) bool { return p.void })
}

// repository names the other repository that a text is about: the one that its
// command names, where the session's own is known by name, else that of the directory.
func (r *reading) repository(named, dir string, known bool) string {
	if named == "" || named == "/" || !known {
		return r.place(dir, r.checkout(dir))
	}
	if slices.Contains(r.names, named) {
		return ""
	}
	return named
}

// addedFiles notes the texts of prose files that a call writes.
func addedFiles(input string, files *textFiles) {
	if rest := input; strings.Contains(rest, "*** Add File: ") {
		if !strings.Contains(rest, "\n*** ") {
			rest = escapes.Replace(rest) // a patch inside a script's or JSON's string
		}
		for _, part := range strings.Split(rest, "*** Add File: ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			if !prose(name) {
				continue
			}
			var b strings.Builder
			for line := range strings.Lines(body) {
				if strings.HasPrefix(line, "*** ") {
					break
				}
				b.WriteString(strings.TrimPrefix(line, "+"))
			}
			files.write(strings.TrimSpace(name), strings.TrimSpace(b.String()))
		}
	}
	if !strings.HasPrefix(input, "{") || len(input) > maxLetterLine {
		return
	}
	if name := argument(input); prose(name) {
		var args struct{ Content string }
		if json.Unmarshal([]byte(input), &args) == nil && args.Content != "" {
			files.write(name, args.Content)
		}
	}
}

// prose reports whether a file holds text for people by its name.
func prose(name string) bool {
	name = strings.TrimSpace(name)
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".markdown")
}

// called reads a call of a tool, not a shell, that sends a text for people.
func called(it *memoir.Item) (posting, bool) {
	name := strings.ToLower(it.Tool)
	if !strings.HasPrefix(it.Input, "{") || len(it.Input) > maxLetterLine {
		return posting{}, false
	}
	p := posting{kind: postPull, edits: strings.Contains(name, "update") || strings.Contains(name, "edit")}
	switch {
	case strings.Contains(name, "comment"):
		p.kind, p.edits = postComment, false
	case strings.Contains(name, "pull_request"), strings.Contains(name, "merge_request"):
	case strings.Contains(name, "release") && strings.Contains(name, "create"):
		p.kind = postRelease
	default:
		return posting{}, false
	}
	var args struct{ Title, Body, Description, Head string }
	if json.Unmarshal([]byte(it.Input), &args) != nil {
		return posting{}, false
	}
	p.title, p.body, p.branch = args.Title, cmp.Or(args.Body, args.Description), args.Head
	return p, p.body != "" && (p.kind == postComment || p.title != "" || p.edits)
}

// arrive adds a posting to those before it.
func (r *reading) arrive(list []*posting, p *posting, output string) []*posting {
	same := func(q *posting) bool { return !q.void && q.kind == postPull && q.target == p.target }
	switch {
	case p.closes:
		for _, q := range newest(list) {
			if p.target != "" && same(q) {
				q.void = true
				leave(list, q.branch)
			}
		}
		if p.body == "" {
			return list
		}
	case p.merged:
		for _, q := range newest(list) {
			if q.kind == postPull && (same(q) || p.target == "" && q == list[len(list)-1]) {
				q.merged = true
			}
		}
		return list
	case p.kind == postCommit:
		made := committed.FindAllStringSubmatch(clean(output), -1)
		for _, m := range made {
			if len(made) == 1 || strings.TrimSpace(m[3]) == strings.TrimSpace(p.title) { // one call may make several
				p.branch, p.commit = strings.TrimSuffix(m[1], " (root-commit)"), m[2]
			}
		}
		if p.edits {
			if q := latest(list, func(q *posting) bool { return q.kind == postCommit }); q != nil {
				if p.title == "" {
					p.title, p.body = q.title, q.body
				}
				q.void = true
			}
		}
		if p.title == "" {
			return list
		}
	case p.edits:
		old := latest(list, func(q *posting) bool {
			return q.kind == p.kind && (p.target == "" || q.target == p.target)
		})
		if old == nil && p.body != "" {
			most := 0.5
			for _, q := range newest(list) {
				if q.kind != p.kind || q.void || q.target != "" {
					continue
				}
				if o := r.lexicon.of(q.body).overlap(r.lexicon.of(p.body)); o > most {
					old, most = q, o
				}
			}
		}
		if old != nil {
			old.void = true
			p.title, p.body, p.branch = cmp.Or(p.title, old.title), cmp.Or(p.body, old.body), cmp.Or(p.branch, old.branch)
			p.target, p.link = cmp.Or(p.target, old.target), cmp.Or(p.link, old.link)
			p.opened, p.place = old.opened, cmp.Or(p.place, old.place)
		}
	}
	return append(list, p)
}

// address gives the pull requests of a call the addresses that it printed: to those that it
// opened in their order, if there are as many, and to others by their numbers. An address
// tells the repository too, where the session's own is known.
func (r *reading) address(list []*posting, it *memoir.Item, known bool) {
	from := len(list)
	for from > 0 && list[from-1].item == it.N {
		from--
	}
	mine := slices.DeleteFunc(slices.Clone(list[from:]), func(p *posting) bool { return p.kind != postPull })
	if len(mine) == 0 {
		return
	}
	var links []string
	for _, m := range pullNumber.FindAllString(clean(it.Output), maxAlike) {
		if !slices.Contains(links, m) {
			links = append(links, m)
		}
	}
	fresh := 0
	for _, p := range mine {
		if p.target == "" && !p.edits {
			fresh++
		}
	}
	for _, p := range mine {
		switch {
		case p.target == "" && !p.edits && fresh == len(links):
			p.link, p.target, p.opened = links[0], number(links[0]), true
			links, fresh = links[1:], fresh-1
		case p.target != "" && p.link == "":
			if at := slices.IndexFunc(links, func(l string) bool { return number(l) == p.target }); at >= 0 {
				p.link = links[at]
			}
		}
		if name := repositoryOf(p.link); known && name != "" && p.place == "" && !slices.Contains(r.names, name) {
			p.place = name
		}
	}
}

// repositoryOf is the name of the repository in the address of a pull request.
func repositoryOf(link string) string {
	at := max(strings.LastIndex(link, "/pull/"), strings.LastIndex(link, "/-/merge_requests/"))
	if at < 0 {
		return ""
	}
	return path.Base(link[:at])
}

var (
	committed  = newPattern(`(?m)^\[([^\]\n]*) ([0-9a-f]{7,40})\] (.*)$`)
	pullNumber = newPattern(`https://\S+/(?:pull|merge_requests)/(\d+)\b`)
	undoing    = newPattern(`\bgit (?:revert|reset)(?: --?[a-z-]+)* (HEAD[~^]?\d*|[0-9a-f]{7,40}\b)`)
)

// undo makes the message of a commit void that a command line takes back.
func undo(list []*posting, line string) {
	if !strings.Contains(line, "git re") {
		return
	}
	for _, m := range undoing.FindAllStringSubmatch(line, -1) {
		ref, reset := m[1], strings.Contains(m[0], "reset")
		switch {
		case reset && !strings.HasPrefix(ref, "HEAD"), reset && ref == "HEAD":
		case strings.HasPrefix(ref, "HEAD"):
			n, err := strconv.Atoi(strings.TrimLeft(ref, "HEAD~^"))
			if err != nil || !reset {
				n = 1
			}
			for ; n > 0; n-- {
				q := latest(list, func(q *posting) bool { return q.kind == postCommit })
				if q == nil {
					break
				}
				q.void = true
			}
		default:
			for _, q := range newest(list) {
				if q.commit != "" && (strings.HasPrefix(ref, q.commit) || strings.HasPrefix(q.commit, ref)) {
					q.void = true
				}
			}
		}
	}
}

// newest are the last postings, those that a later one may edit, close or undo.
func newest(list []*posting) []*posting {
	const most = 200
	return list[max(0, len(list)-most):]
}

func latest(list []*posting, is func(*posting) bool) *posting {
	for _, p := range slices.Backward(newest(list)) {
		if !p.void && is(p) {
			return p
		}
	}
	return nil
}
