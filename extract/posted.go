package extract

import (
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// What a post is.
const (
	postCommit = "commit"
	postPull   = "pull request"
	postPlan   = "approved plan"
)

// A post is a text that was published in the session: the message of a commit that
// succeeded, a pull request that was opened or edited, a plan that was approved.
type post struct {
	item   int
	kind   string
	number string // of a pull request, as far as it is known
	hash   string // of a commit, abbreviated, as far as it is known
	title  string
	body   string
	void   bool // a later post takes its place, or it was undone
}

// post reads what the commands of a call published.
func (s *session) post(c *call) {
	for _, r := range c.runs {
		switch path.Base(r.program) {
		case "git":
			if i := slices.Index(r.args, "commit"); i >= 0 && i < 3 {
				s.commit(r)
			} else if r.status == statusPassed {
				s.worktree(r)
				s.undo(r)
			}
		case "gh", "glab":
			if r.status == statusPassed {
				s.pull(r)
			}
		}
	}
}

// worktree notes the directory of a working tree that a git command adds.
func (s *session) worktree(r *run) {
	if i := slices.Index(r.args, "worktree"); i >= 0 && i+2 < len(r.args) && r.args[i+1] == "add" {
		for _, w := range r.args[i+2:] {
			if strings.Contains(w, "/") {
				s.worktrees = append(s.worktrees, s.relative(join(join(s.root, r.dir), w)))
			}
		}
	}
}

// committed matches the line in which git confirms a commit.
var committed = lazyregexp.New(`(?m)^\[[^\]\n]* ([0-9a-f]{7,40})\] (.+)$`)

func (s *session) commit(r *run) {
	if s.elsewhere(r) {
		return
	}
	p := post{item: r.item, kind: postCommit}
	text := strings.Join(r.options("-m", "--message", "-am", "-sm", "-asm"), "\n\n")
	if text == "" {
		if name, ok := r.option("-F", "--file"); ok {
			text = s.textOf(r, name)
		}
	}
	p.title, p.body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if strings.Contains(r.call.output, "] ") {
		for _, m := range committed.FindAllStringSubmatch(r.call.output, 8) {
			if p.title == "" || strings.TrimSpace(m[2]) == p.title {
				p.hash, p.title = m[1], strings.TrimSpace(m[2])
				break
			}
		}
	}
	if p.hash == "" && r.status != statusPassed || p.title == "" || r.dynamic && strings.ContainsAny(p.title, "$") {
		return
	}
	if slices.Index(r.args, "--amend") >= 0 {
		if last := s.last(postCommit); last != nil {
			last.void = true
			if p.body == "" && p.title == last.title {
				p.body = last.body
			}
		}
	}
	s.posts = append(s.posts, p)
}

// elsewhere reports whether a command of version control worked on another repository: outside of the
// session's root, and in no working tree that the session added.
func (s *session) elsewhere(r *run) bool {
	dir := r.dir
	if in, ok := r.option("-C"); ok {
		dir = s.relative(join(join(s.root, dir), in))
	}
	if s.root == "" || dir == "" || dir[0] != '/' && dir[0] != '~' && !strings.HasPrefix(dir, "..") ||
		strings.HasPrefix(s.root, dir+"/") {
		return false
	}
	return !slices.ContainsFunc(s.worktrees, func(t string) bool { return dir == t || strings.HasPrefix(dir, t+"/") })
}

// textOf is the text that a command takes from a file or from standard input.
func (s *session) textOf(r *run, name string) string {
	if name == "-" || name == "" {
		return r.stdin
	}
	return s.texts[s.relative(join(join(s.root, r.dir), name))]
}

// last is the newest post of a kind that still stands; nil if there is none.
func (s *session) last(kind string) *post {
	for i := len(s.posts) - 1; i >= 0; i-- {
		if p := &s.posts[i]; p.kind == kind && !p.void {
			return p
		}
	}
	return nil
}

// pull reads a pull request that a command of gh or glab opens, edits or closes.
func (s *session) pull(r *run) {
	words := r.words()
	if len(words) < 3 || words[1] != "pr" && words[1] != "mr" || s.elsewhere(r) {
		return
	}
	p := post{item: r.item, kind: postPull}
	if len(words) > 3 {
		p.number = pullNumber(words[3])
	}
	if p.number == "" {
		p.number = r.opened()
	}
	switch words[2] {
	case "create", "new", "edit", "update":
	case "close":
		for i := range s.posts {
			if q := &s.posts[i]; q.kind == postPull && (p.number == "" || q.number == p.number) {
				q.void = true
			}
		}
		return
	default:
		return
	}
	p.title, _ = r.option("--title", "-t")
	p.body, _ = r.option("--body", "-b", "--description", "-d")
	if name, ok := r.option("--body-file", "-F"); ok && p.body == "" {
		p.body = s.textOf(r, name)
	}
	s.addPull(p, words[2] == "edit" || words[2] == "update")
}

// The address of a pull request, on a line of its own or in other text, or its number.
var (
	pullLine    = lazyregexp.New(`(?m)^\s*https://\S*/(?:pull|merge_requests)/\d+\S*\s*$`)
	pullAddress = lazyregexp.New(`/(?:pull|merge_requests)/(\d+)|^(\d+)$`)
)

// pullNumber is the number of the pull request that a text names by its number or address.
func pullNumber(text string) string {
	m := pullAddress.FindStringSubmatch(strings.TrimSpace(text))
	return strings.Join(m[min(len(m), 1):], "")
}

// opened is the number of the pull request that a command opened or edited. Its call
// prints one address for each.
func (r *run) opened() string {
	addresses := pullLine.FindAllString(r.call.output, -1)
	pulls := slices.DeleteFunc(slices.Clone(r.call.runs), func(o *run) bool {
		w := o.words()
		return len(w) < 3 || o.program != r.program || w[1] != "pr" && w[1] != "mr" || w[2] == "view"
	})
	i := slices.Index(pulls, r)
	if i < 0 || len(pulls) != len(addresses) {
		return ""
	}
	return pullNumber(addresses[i])
}

// addPull enters a pull request; an edited one takes the place of what it said before.
func (s *session) addPull(p post, edited bool) {
	for i := len(s.posts) - 1; i >= 0 && edited; i-- {
		last := &s.posts[i]
		if last.kind != postPull || last.void || p.number != "" && last.number != p.number {
			continue
		}
		if p.title == "" {
			p.title = last.title
		}
		if p.body == "" {
			p.body = last.body
		}
		p.number, last.void = last.number, true
		break
	}
	if p.title != "" {
		s.posts = append(s.posts, p)
	}
}

// postTool reads what a tool other than a shell published.
func (s *session) postTool(it *memoir.Item, name string) {
	switch {
	case strings.HasSuffix(name, "create_pull_request"), strings.HasSuffix(name, "update_pull_request"):
		args := gjson.GetMany(it.Input, "title", "body")
		number := gjson.Get(it.Output, "number").String()
		if number == "" {
			number = pullNumber(it.Output)
		}
		s.addPull(post{item: it.N, kind: postPull, number: number, title: args[0].String(),
			body: args[1].String()}, strings.Contains(name, "update"))
	case name == "exitplanmode" || name == "exit_plan_mode":
		if strings.Contains(it.Output, "approved") {
			s.addPlan(it.N, gjson.Get(it.Input, "plan").String())
		}
	}
}

// plan reads a plan that a session was begun with, which a person approved by that.
func (s *session) plan(it *memoir.Item) {
	if it.Origin == memoir.OriginPlanHandover {
		s.addPlan(it.N, it.Text)
	}
}

func (s *session) addPlan(item int, text string) {
	text = clean(text)
	i := strings.Index(text, "# ")
	if i < 0 || i > 0 && text[i-1] != '\n' {
		return
	}
	p := post{item: item, kind: postPlan}
	p.title, p.body, _ = strings.Cut(text[i+2:], "\n")
	p.title = strings.TrimSpace(strings.TrimPrefix(p.title, "Plan: "))
	for i := range s.posts {
		if q := &s.posts[i]; q.kind == postPlan && q.title == p.title {
			q.void = true
		}
	}
	if p.title != "" {
		s.posts = append(s.posts, p)
	}
}

// posted is the signal of what was delivered. Left out are commits about feedback,
// style and merges, those that a pull request of the same title describes, and those
// without a body where others have one.
func posted(s *session) []candidate {
	bodies, titles := false, map[string]bool{}
	for _, p := range s.posts {
		if p.kind == postCommit && !p.void && statements(p.body, false) != "" {
			bodies = true
		}
		if p.kind == postPull && !p.void {
			titles[p.title] = true
		}
	}
	var out []candidate
	for _, p := range s.posts {
		body := statements(p.body, p.kind == postPlan)
		if p.void || p.kind == postCommit && (titles[p.title] || body == "" && (bodies || len(titles) > 0) ||
			housekeeping(p.title)) {
			continue
		}
		text := p.name() + ": " + p.shown()
		if body != "" {
			text += " — " + body
		}
		out = append(out, state(memoir.StatementOutcome, text, p.item))
	}
	return out
}

// name is how a statement calls the post.
func (p post) name() string {
	if p.number != "" {
		return p.kind + " #" + p.number
	}
	return p.kind
}

// maxSubject bounds, in bytes, the subjects that are shown whole.
const maxSubject = 160

func (p post) shown() string { return shorten(clean(p.title), maxSubject) }

// housekeeping reports whether a commit's subject says that it is about feedback, style or a merge.
func housekeeping(title string) bool {
	return hasAny(lowerWords(title), "feedback", "review", "lint", "linter", "format", "formatting", "fmt",
		"merge", "wip", "fixup", "typo", "prettier", "whitespace")
}

// maxBody bounds, in bytes, what is taken from the body of a post.
const maxBody = 300

// statements returns the first statements of a body, whole, up to maxBody bytes:
// without headings, trailers, test plans and notes that an agent wrote it. Of a plan
// only what stands under its first heading counts: the rest are steps.
func statements(body string, plan bool) string {
	if body == "" {
		return ""
	}
	var out []string
	size := 0
	list := paragraphs(clean(body))
	for _, b := range list {
		if b.section(endOfBody...) || plan && b.heading != list[0].heading {
			break
		}
		for _, text := range sentences(b.text) {
			text = strings.TrimRight(strings.ReplaceAll(text, "**", ""), " .")
			if trailer(text) || strings.HasSuffix(text, ":") || len(text) < 12 {
				continue
			}
			if size += len(text) + 2; size > maxBody {
				return strings.Join(out, "; ")
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// endOfBody are words in the headings that end what a body says of the change.
var endOfBody = []string{"test", "tests", "testing", "test plan", "tested", "verification", "validation",
	"checklist", "changes required", "how to test"}

// trailer reports whether a line is a trailer, a reference or a note on who wrote it.
func trailer(line string) bool {
	name, _, ok := strings.Cut(line, ": ")
	if ok && strings.Contains(name, "-") && !strings.ContainsAny(name, " `(") && name[0] >= 'A' && name[0] <= 'Z' {
		return true
	}
	lower := strings.ToLower(line)
	for _, p := range []string{"generated with", "generated by", "ai coding", "ai-generated", "co-authored",
		"fixes #", "closes #", "refs #", "addresses #"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	return false
}
