package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"memoir"
	"memoir/consolidate"
	"memoir/memory"
	"memoir/project"
	"memoir/rollout"
	"memoir/store"
)

// AdoptOptions says where the memory is that a database lost.
type AdoptOptions struct {
	Home string
	// Identify says which project a directory and a remote belong to.
	Identify func(cwd, remote string) (memoir.Project, project.Status)
	// Unregistered takes over the memory of projects that the database doesn't know, too.
	Unregistered bool
	// ExtractionsLost, as in store.Adoption.
	ExtractionsLost bool
	// NotesLost takes what people changed by hand from the archives.
	NotesLost bool
	// GenerationsLost has the archives tell which generations there were, and what of.
	GenerationsLost bool
}

// AdoptedProject is what was taken over from one project's files.
type AdoptedProject struct {
	ID string
	store.Adopted
	Err error // why its memory can't be read
}

// Adopt takes over what the live memory of each project tells: the extractions that it
// rests on, the generation that is live, what people changed by hand. It is for a
// database that lost them. Files are read, and none is changed. A memory that cannot be read
// has its error among what is returned; an error of the database, or a folder that cannot be
// listed (memoir.CodeStorage), ends it.
func Adopt(ctx context.Context, st *store.Store, o AdoptOptions) ([]AdoptedProject, error) {
	entries, err := os.ReadDir(filepath.Join(o.Home, "projects"))
	if errors.Is(err, syscall.ENOTDIR) { // whoever publishes there says so
		return nil, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, memoir.Errorf(memoir.CodeStorage, "make the folder readable for you", "list projects: %w", err)
	}
	var out []AdoptedProject
	for _, entry := range entries {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if !entry.IsDir() || !isProjectID(entry.Name()) {
			continue
		}
		known, err := st.Registered(ctx, entry.Name())
		if err != nil {
			return out, err
		}
		if !known && !o.Unregistered {
			continue
		}
		sessions, err := st.Sessions(ctx, store.Filter{Project: entry.Name()})
		if err != nil {
			return out, err
		}
		adoption, err := adoptionOf(entry.Name(), sessions, o)
		if err != nil {
			out = append(out, AdoptedProject{ID: entry.Name(), Err: err})
			continue
		}
		if adoption.Generation.N == 0 && !known {
			continue
		}
		adopted, err := st.Adopt(ctx, adoption)
		if err != nil {
			return out, err
		}
		out = append(out, AdoptedProject{ID: entry.Name(), Adopted: adopted})
	}
	return out, nil
}

// isProjectID reports whether a folder's name has the form of a project's id.
func isProjectID(name string) bool {
	const hash = 12
	dash := len(name) - hash - 1
	return dash > 0 && name[dash] == '-' && name[0] != '.' && strings.Trim(name[dash+1:], "0123456789abcdef") == ""
}

// adoptionOf reads a project's live memory.
func adoptionOf(id string, sessions []memoir.Session, o AdoptOptions) (store.Adoption, error) {
	root := memory.At(o.Home, id)
	live, err := root.Current()
	if err != nil || live.Generation == 0 {
		return store.Adoption{Project: projectOf(id, sessions, nil, o)}, err
	}
	m := live.Manifest
	a := store.Adoption{ExtractionsLost: o.ExtractionsLost, Generation: store.GenerationRecord{
		N: int64(m.Generation), ManifestHash: m.Hash(), Inputs: inputsByKey(m.Inputs), At: publishedAt(root, m.Generation), Redactions: m.Redactions,
	}}
	if o.GenerationsLost {
		if a.Archived, err = archived(root, live.Generation); err != nil {
			return a, err
		}
	}
	a.Extractions = extractionsIn(live.Files, m.Inputs)
	a.Project = projectOf(id, sessions, a.Extractions, o)
	if o.NotesLost {
		if a.Notes, err = notesKept(root, id); err != nil {
			return a, err
		}
	}
	return a, nil
}

// publishedAt is when a generation was published, as its archive tells.
func publishedAt(root memory.Root, n int) time.Time {
	if info, err := os.Stat(root.Archive(n)); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// notesKept are the notes on earlier generations.
func notesKept(root memory.Root, id string) (map[int64][]memoir.Note, error) {
	past, err := root.PastEdits()
	if err != nil {
		return nil, err
	}
	notes := map[int64][]memoir.Note{}
	for _, p := range past {
		notes[int64(p.Base)] = append(notes[int64(p.Base)], memory.Notes(id, p.Edits, p.At)...)
	}
	return notes, nil
}

// projectOf says what a project is: a session that leads to its id was of it. One that
// no session leads to is known by its id.
func projectOf(id string, sessions []memoir.Session, extractions []memoir.Extraction, o AdoptOptions) memoir.Project {
	for _, e := range extractions {
		sessions = append(sessions, memoir.Session{CWD: e.CWD})
	}
	for _, s := range sessions {
		if p, status := o.Identify(s.CWD, s.Remote); status.OK() && p.ID == id {
			return p
		}
	}
	return memoir.Project{ID: id, Name: id[:strings.LastIndexByte(id, '-')], Identity: id}
}

// extractionsIn reads back the extractions that companions wrote down. What a person
// changed in those files is taken as it is. One of which a part is gone is none.
func extractionsIn(files memory.Files, inputs []memory.Input) []memoir.Extraction {
	found := map[string]*memoir.Extraction{}
	take := func(text string) (*memoir.Extraction, string, bool) {
		e, body, ok := readHeader(text)
		if !ok {
			return nil, "", false
		}
		if found[e.SessionKey] == nil {
			found[e.SessionKey] = &e
		}
		return found[e.SessionKey], body, true
	}
	for _, at := range files.Paths() {
		if !strings.HasPrefix(at, summariesDir) {
			continue
		}
		if e, body, ok := take(string(files[at])); ok {
			e.RolloutSummary = strings.TrimSpace(body)
			e.RolloutSlug = consolidate.SlugIn(path.Base(at), e.SessionKey)
		}
	}
	for _, section := range sections(string(files[rawMemoriesFile])) {
		heading, after, _ := strings.Cut(section, "\n\n")
		if e, body, ok := take(after); ok {
			e.RawMemory = strings.TrimSpace(body)
			_, e.Title, _ = strings.Cut(strings.TrimPrefix(heading, "# "), " ")
		}
	}
	var out []memoir.Extraction
	for _, in := range inputs {
		e := found[in.Session]
		if e == nil || e.RawMemory == "" || e.RolloutSummary == "" {
			continue
		}
		e.ContentHash, e.FilterVersion = in.Hash, rollout.FilterVersion
		out = append(out, *e)
	}
	return out
}

// sections splits raw_memories.md by sessions. Each begins with a heading, a blank line
// and a session's header.
func sections(text string) []string {
	var out []string
	start := -1
	for at := 0; at < len(text); {
		rest := text[at:]
		heading, after, _ := strings.Cut(rest, "\n")
		if strings.HasPrefix(heading, "# ") && strings.HasPrefix(after, "\nsession: ") {
			if start >= 0 {
				out = append(out, text[start:at])
			}
			start = at
		}
		at += len(rest) - len(after)
	}
	if start >= 0 {
		out = append(out, text[start:])
	}
	return out
}

// readHeader is the inverse of header: which session a text is about, and what follows.
func readHeader(text string) (e memoir.Extraction, body string, ok bool) {
	head, body, _ := strings.Cut(text, "\n\n")
	fields := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		fields[name] = value
	}
	ended, err := time.Parse(time.RFC3339, fields["ended"])
	if err != nil || fields["session"] == "" || fields["agent"] == "" {
		return e, "", false
	}
	e.SessionKey = memoir.SessionKey(memoir.Source(fields["agent"]), fields["session"])
	e.EndedAt, e.StartedAt, e.CWD, e.Branch = ended, ended, fields["cwd"], fields["branch"]
	return e, body, true
}

// adoptUnknown takes over memory that this database knows nothing of: it was removed, or
// is another than the one that the memory was made with. Nothing may be taken for
// withdrawn because of that.
func (r *run) adoptUnknown(ctx context.Context) error {
	isNew, err := r.store.IsNew(ctx)
	if err != nil || !isNew || r.opts.DryRun {
		return err
	}
	adopted, err := Adopt(ctx, r.store, AdoptOptions{Home: r.opts.Home, Identify: r.resolver().Identify, Unregistered: true, ExtractionsLost: true, NotesLost: true, GenerationsLost: true})
	if err != nil {
		return err
	}
	projects, extractions := 0, 0
	for _, a := range adopted {
		if a.Err != nil {
			r.warn(fmt.Sprintf("project %s: its memory is not taken over: %v", a.ID, a.Err), memoir.HintOf(a.Err))
			continue
		}
		projects++
		extractions += a.Extractions
	}
	if projects > 0 {
		r.warn(fmt.Sprintf("the database is new, and there is memory already: %d projects and %d extractions are taken over from its files; what was forgotten or disabled is not known any more",
			projects, extractions), "`memoir forget` and `memoir sessions disable` say it again; an earlier database that you have, put in place of the new one, still knows")
	}
	return nil
}
