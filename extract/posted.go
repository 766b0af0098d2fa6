package extract

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"memoir"
	"memoir/internal/lazyregexp"
)

// The kinds of posts.
const (
	postCommit = "commit"
	postPull   = "pull request"
	postIssue  = "issue"
	postPlan   = "approved plan"
)

// A post is a text that was published in the session: the message of a successful commit, an
// opened or edited pull request or issue, an approved plan.
type post struct {
	item   int
	wrote  int // the item that wrote the file with the body; 0: there is none
	kind   string
	number string // of a pull request or issue, if known
	hash   string // of a commit, abbreviated, if known
	day    string // on which it was posted, as Date has it
	title  string
	body   string
	void   bool // a later post replaced it, or it was undone
}

// posters are programs that post; postWords name posts, in commands and in requests for them.
var posters, postWords = memoir.SetOf("git gh glab docker"),
	memoir.SetOf("commit push merge tag pr mr issue release publish deploy")

func (r *run) posts() bool {
	purpose, _ := r.purpose()
	words := append(r.operands(), "")
	return purpose == forRelease || posters[path.Base(r.program)] && postWords[words[0]]
}

// publish records a post. A replacement, such as an edited pull request, inherits missing
// fields from the post that it replaces. A commit with a new title does not inherit the body.
func (s *session) publish(p post, replaces bool) {
	if old := s.standing(p.kind, p.number); old != nil && replaces {
		p.number, p.title = cmp.Or(p.number, old.number), cmp.Or(p.title, old.title)
		if p.body == "" && (p.kind != postCommit || p.title == old.title) {
			p.body, p.wrote = old.body, old.wrote
		}
		old.void = true
	}
	if p.title = strings.TrimSpace(p.title); p.title != "" {
		p.day = s.day(p.item)
		s.posts = append(s.posts, p)
	}
}

// standing returns the newest valid post of a kind, with the same number if both are known; nil if there is none.
func (s *session) standing(kind, number string) *post {
	for i := len(s.posts) - 1; i >= 0; i-- {
		if p := &s.posts[i]; p.kind == kind && !p.void && (number == "" || p.number == "" || p.number == number) {
			return p
		}
	}
	return nil
}

// post reads the posts that the commands of a call published or undid.
func (s *session) post(c *call) {
	for _, r := range c.runs {
		program := path.Base(r.program)
		switch i := slices.Index(r.args, "commit"); {
		case program != "git" && program != "gh" && program != "glab", s.elsewhere(r):
		case program == "git" && i >= 0 && i < 3:
			s.commit(r)
		case program == "git" && r.status == statusPassed:
			s.worktree(r)
			s.undo(r)
		case program != "git" && r.status == statusPassed:
			s.request(r)
		}
	}
}

// committed matches the line in which git confirms a commit.
var committed = lazyregexp.New(`(?m)^\[[^\]\n]* ([0-9a-f]{7,40})\] (.+)$`)

func (s *session) commit(r *run) {
	p := post{item: r.item, kind: postCommit}
	text := strings.Join(r.options("-m", "--message", "-am", "-sm", "-asm"), "\n\n")
	if text == "" {
		text, p.wrote = s.textOf(r, "-F", "--file")
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
	if (p.hash != "" || r.status == statusPassed) && !(r.dynamic && strings.Contains(p.title, "$")) {
		s.publish(p, slices.Contains(r.args, "--amend"))
	}
}

// worktree records the directory of a working tree that a git command adds.
func (s *session) worktree(r *run) {
	if i := slices.Index(r.args, "worktree"); i >= 0 && i+1 < len(r.args) && r.args[i+1] == "add" {
		for _, word := range r.args[i+2:] {
			if strings.Contains(word, "/") {
				s.worktrees[s.relative(join(join(s.root, s.worksIn(r)), word))] = true
			}
		}
	}
}

// elsewhere reports whether a command of version control worked on another repository: its
// directory is neither below nor above the session's root, nor in a working tree of the project.
func (s *session) elsewhere(r *run) bool {
	dir := s.worksIn(r)
	if s.root == "" || dir == "" || dir[0] != '/' && dir[0] != '~' && !strings.HasPrefix(dir, "..") ||
		strings.HasPrefix(s.root, dir+"/") {
		return false
	}
	for len(s.worktrees) > 0 && strings.Contains(dir, "/") && !s.worktrees[dir] {
		dir = dir[:strings.LastIndexByte(dir, '/')]
	}
	return dir == "" || !s.worktrees[dir]
}

// worksIn returns the working directory of a command of version control.
func (s *session) worksIn(r *run) string {
	if in, ok := r.option("-C"); ok {
		return s.relative(join(join(s.root, r.dir), in))
	}
	return r.dir
}

// textOf returns the text of the file that an option names, with the item that wrote it, or standard input for "-".
func (s *session) textOf(r *run, options ...string) (text string, item int) {
	name, ok := r.option(options...)
	switch {
	case !ok:
		return "", 0
	case name == "-" || name == "":
		return r.stdin, 0
	}
	file := s.texts[s.relative(join(join(s.root, r.dir), name))]
	return file.text, file.item
}

// items returns the items that show a post.
func (p post) items() []int {
	if p.wrote > 0 && p.wrote < p.item {
		return []int{p.wrote, p.item}
	}
	return []int{p.item}
}

// request records a pull request or an issue that a command of gh or glab opens, edits, closes or shows.
func (s *session) request(r *run) {
	words := append(r.words(), "", "", "")
	kind := map[string]string{"pr": postPull, "mr": postPull, "issue": postIssue}[words[1]]
	if kind == "" {
		return
	}
	p := post{item: r.item, kind: kind, number: numberIn(words[3])}
	if addresses := postLine.FindAllString(r.call.output, -1); p.number == "" && len(addresses) == 1 {
		p.number = numberIn(addresses[0])
	}
	switch words[2] {
	case "create", "new", "edit", "update":
		p.title, _ = r.option("--title", "-t")
		p.body, _ = r.option("--body", "-b", "--description", "-d")
		if p.body == "" {
			p.body, p.wrote = s.textOf(r, "--body-file", "-F")
		}
		s.publish(p, words[2] == "edit" || words[2] == "update")
	case "view": // what opened it may not have told the number
		seen := gjson.Parse(r.call.output)
		if old := s.standing(kind, ""); old != nil && old.number == "" && old.title == seen.Get("title").Str {
			old.number = numberIn(seen.Get("number").Raw)
		}
	case "close":
		if old := s.standing(kind, p.number); old != nil {
			old.void = true
		}
	}
}

// The address of a pull request or issue, on a line of its own or in other text, or its number.
var (
	postLine    = lazyregexp.New(`(?m)^\s*https://\S*/(?:pull|merge_requests|issues|work_items)/\d+\S*\s*$`)
	postAddress = lazyregexp.New(`/(?:pull|merge_requests|issues|work_items)/(\d+)|^(\d+)$`)
)

// numberIn returns the number of the pull request or issue that a text names by number or address.
func numberIn(text string) string {
	m := postAddress.FindStringSubmatch(strings.TrimSpace(text))
	return strings.Join(m[min(len(m), 1):], "")
}

// issueTool matches the name of a tool that files an issue, which may be prefixed; identifier the issue's name
// in its answer.
var (
	issueTool  = lazyregexp.New(`(?:create_?(?:jira_?)?issue|issue_?(?:create|write)|(?:save|file|open)_?issue)$`)
	identifier = lazyregexp.New(`"(?:identifier|key|iid|number)\\?"\s*:\s*\\?"?([A-Z][A-Z0-9]*-\d+|\d+)\b`)
)

// postTool reads a post by a tool other than a shell.
func (s *session) postTool(it *memoir.Item, name string) {
	in, p := gjson.Parse(it.Input), post{item: it.N}
	switch {
	case strings.HasSuffix(name, "create_pull_request"), strings.HasSuffix(name, "update_pull_request"):
		p.kind = postPull
	case issueTool.MatchString(name) && !in.Get("id").Exists() && !in.Get("issue_number").Exists():
		p.kind = postIssue
	default:
		if (name == "exitplanmode" || name == "exit_plan_mode") && strings.Contains(it.Output, "approved") {
			s.plan(it.N, in.Get("plan").String())
		}
		return
	}
	p.title, p.body = firstText(in, "title", "summary"), firstText(in, "body", "description")
	p.number = numberIn(it.Output)
	if m := identifier.FindStringSubmatch(it.Output); m != nil {
		p.number = m[1]
	}
	s.publish(p, p.kind == postPull && strings.Contains(name, "update"))
}

// plan records a plan that a person approved, or with which the session began. Its heading is
// its title. It replaces the plan before it if that has the same title.
func (s *session) plan(item int, text string) {
	if _, rest, ok := strings.Cut("\n"+clean(text), "\n# "); ok {
		p := post{item: item, kind: postPlan}
		p.title, p.body, _ = strings.Cut(rest, "\n")
		p.title = strings.TrimSpace(strings.TrimPrefix(p.title, "Plan: "))
		old := s.standing(postPlan, "")
		s.publish(p, old != nil && old.title == p.title)
	}
}

// undo marks the commits that a git command undoes.
func (s *session) undo(r *run) {
	words := r.words()
	if len(words) < 3 {
		return
	}
	target := words[len(words)-1]
	switch words[1] {
	case "reset":
		if strings.HasPrefix(target, "HEAD~") || strings.HasPrefix(target, "HEAD^") {
			if last := s.standing(postCommit, ""); last != nil {
				last.void = true
			}
		}
	case "revert":
		for i := range s.posts {
			p := &s.posts[i]
			if p.kind == postCommit && (target == "HEAD" && p == s.standing(postCommit, "") || p.hash != "" &&
				(strings.HasPrefix(target, p.hash) || strings.HasPrefix(p.hash, target))) {
				p.void = true
			}
		}
	}
}

// posted is the signal of delivered work. It leaves out commits about feedback, style and merges, those with the title
// of a pull request, and those without a body if a pull request or another commit describes the work. Its detail, with
// which MEMORY.md tells it, is prose that gives a reason: what was changed, git tells.
func posted(s *session) []candidate {
	bodies, titles := false, map[string]bool{}
	for _, p := range s.posts {
		if p.kind == postCommit && !p.void && statements(p.paragraphs(), maxBody) != "" {
			bodies = true
		}
		if p.kind == postPull && !p.void {
			titles[p.title] = true
		}
	}
	var out []candidate
	for _, p := range s.posts {
		body := statements(p.paragraphs(), maxBody)
		if p.void || p.kind == postIssue || p.kind == postCommit && (titles[p.title] ||
			body == "" && (bodies || len(titles) > 0) || housekeeping(p.title)) {
			continue
		}
		c := state(signalPosted, memoir.StatementOutcome, p.name()+": "+p.shown(), p.items()...)
		c.Outcome, c.Detail = c.Text, p.cause()
		if c.Detail == "" && p.kind != postPlan {
			prose := slices.DeleteFunc(p.paragraphs(), func(one paragraph) bool { return one.bullet })
			if why := statements(prose, maxDetail); hasAny(lowerWords(why), reasons...) {
				c.Detail = why
			}
		}
		if body != "" {
			c.Text += " — " + body
		}
		out = append(out, c)
	}
	return out
}

// reasons are words of prose that says why the former state failed, or what was decided against.
var reasons = []string{"because", "causes", "caused", "causing", "instead of", "rather than"}

func (p post) name() string {
	switch {
	case strings.Contains(p.number, "-"): // the name of an issue, such as APP-12
		return p.kind + " " + p.number
	case p.number != "":
		return p.kind + " #" + p.number
	}
	return p.kind
}

// maxSubject bounds, in bytes, the subjects that are shown whole.
const maxSubject = 160

func (p post) shown() string { return quoteTitle(shorten(clean(p.title), maxSubject)) }

// housekeeping reports whether a commit's subject says that it is about feedback, style or a merge.
func housekeeping(title string) bool {
	return hasAny(lowerWords(title), "feedback", "review", "lint", "format", "fmt", "merge", "wip", "fixup", "typo")
}

// Bounds, in bytes, of the text that is taken from the body of a post: in a raw memory, and among recent work.
const (
	maxBody   = 600
	maxDetail = 400
)

// paragraphs returns the paragraphs of a body. Of a plan it returns the first section only: the rest are steps.
func (p post) paragraphs() []paragraph {
	list := paragraphs(straight.Replace(clean(p.body)))
	return slices.DeleteFunc(list, func(b paragraph) bool { return p.kind == postPlan && b.heading != list[0].heading })
}

// statements returns the first statements of a body, whole, up to limit bytes: without headings, trailers, test plans,
// notes on its author, and sentences with an address of mail.
func statements(list []paragraph, limit int) string {
	var out []string
	size := 0
	for _, b := range list {
		if b.section(endOfBody...) {
			break
		}
		for _, text := range sentences(b.text) {
			text = strings.TrimRight(strings.ReplaceAll(text, "**", ""), " .")
			if trailer(text) || memoir.HasMail(text) || strings.HasSuffix(text, ":") || len(text) < 12 {
				continue
			}
			if size += len(text) + 2; size > limit {
				return strings.Join(out, "; ")
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// endOfBody are words in headings that end a body's description of the change.
var endOfBody = []string{"test", "tests", "testing", "tested", "verification", "validation", "checklist",
	"changes required"}

// reference matches a line that only names an issue or an address, such as "Addresses discussion #7".
var reference = lazyregexp.New(`^(?:\w+:? ){1,2}(?:#\d+|https?://\S+)$`)

// trailer reports whether a line is a trailer, a reference or a note on who wrote it.
func trailer(line string) bool {
	if reference.MatchString(line) {
		return true
	}
	name, _, ok := strings.Cut(line, ": ")
	if ok && strings.Contains(name, "-") && !strings.ContainsAny(name, " `(") && name[0] >= 'A' && name[0] <= 'Z' {
		return true
	}
	lower := strings.ToLower(line)
	return slices.ContainsFunc([]string{"generated with", "generated by", "ai coding", "ai-generated", "co-authored",
		"fixes #", "closes #", "refs #", "addresses #"}, func(p string) bool { return strings.Contains(lower, p) })
}
