package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memoir"
	"memoir/memory"
	"memoir/pipeline"
	"memoir/store"
)

func (s *smokeTest) checkRun(r pipeline.Report) {
	problem := ""
	if r.Scan.Sessions-r.Scan.Reasons[memoir.ReasonUnreadable] == 0 {
		problem = "no session was found in " + s.dir
		if r.Scan.Files > 0 {
			problem += ": " + count(r.Scan.Files, "file") + " of no known agent's format"
		}
	}
	s.verify("scan", fmt.Sprintf("%s in %s", count(r.Scan.Sessions, "session"), count(r.Scan.Files, "file")), problem)
	problem = ""
	if r.Phase1.Failed > 0 || r.Phase1.GivenBack > 0 || r.Left > 0 {
		problem = fmt.Sprintf("%d failed, %d given back, %d left", r.Phase1.Failed, r.Phase1.GivenBack, r.Left)
	}
	s.verify("phase 1", fmt.Sprintf("extracted from %s, %d with nothing worth keeping", count(r.Phase1.Claimed, "session"), r.Phase1.Empty), problem)
	published := 0
	problem = ""
	for _, project := range r.Phase2 {
		switch project.Outcome {
		case pipeline.OutcomePublished:
			published++
		case pipeline.OutcomeEmpty:
		default:
			problem = sayProject(project)
		}
	}
	if published == 0 && problem == "" {
		problem = "no memory was published"
		if reasons := sayReasons(r.Scan.Reasons); reasons != "" {
			problem += " from sessions that are: " + reasons
		}
	}
	s.verify("phase 2", count(published, "project")+" published", problem)
}

// checkStored looks at what the run left in the database and on the disk.
func (s *smokeTest) checkStored(ctx context.Context) error {
	st, err := store.Open(ctx, filepath.Join(s.home, databaseName), store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := st.Projects(ctx)
	if err != nil {
		return err
	}
	s.checkProjects(rows)
	return s.checkSecrets(ctx, st, rows)
}

// checkProjects looks at the files of each published project.
func (s *smokeTest) checkProjects(rows []store.ProjectRow) {
	for _, row := range rows {
		if row.Generation == 0 {
			continue
		}
		root := memory.At(s.home, row.ID)
		snap, err := root.Current()
		if err != nil {
			s.verify(row.ID, "", err.Error())
			continue
		}
		s.verify(row.ID+" files", strings.Join(summarise(snap.Files), ", "), missing(snap))
		s.verify(row.ID+" archive", fmt.Sprintf("generation %d as published", snap.Generation), archived(root, snap))
	}
}

// missing says which promised file is absent, empty or not as in the manifest.
func missing(snap memory.Snapshot) string {
	for _, name := range []string{memory.MemoryFile, memory.SummaryFile, "raw_memories.md"} {
		if len(bytes.TrimSpace(snap.Files[name])) == 0 {
			return name + " is missing or empty"
		}
	}
	summaries := false
	for path, content := range snap.Files {
		if len(content) == 0 {
			return path + " is empty"
		}
		summaries = summaries || strings.HasPrefix(path, "rollout_summaries/")
		if skill, ok := strings.CutPrefix(path, memory.SkillsDir+"/"); ok {
			name, _, _ := strings.Cut(skill, "/")
			body := snap.Files[memory.SkillsDir+"/"+name+"/"+memory.SkillFile]
			if !bytes.HasPrefix(body, []byte("---\n")) || !bytes.Contains(body, []byte("\nname: "+name+"\n")) {
				return path + ": the skill has no valid " + memory.SkillFile
			}
		}
	}
	if !summaries {
		return "rollout_summaries/ is missing or empty"
	}
	if len(snap.Edited) > 0 {
		return snap.Edited[0].Path + " is not as in manifest.json"
	}
	if len(snap.Manifest.Inputs) == 0 {
		return "manifest.json names no session"
	}
	return ""
}

// archived says how the archive differs from the live files.
func archived(root memory.Root, snap memory.Snapshot) string {
	files, err := root.ReadArchive(snap.Generation)
	if err != nil {
		return err.Error()
	}
	if !files.Equal(snap.Files) {
		return "the archive is not what is live"
	}
	return ""
}

// summarise counts the files of a root by their place.
func summarise(files memory.Files) []string {
	places := map[string]int{}
	for path := range files {
		place, _, below := strings.Cut(path, "/")
		if below {
			place += "/"
		}
		places[place]++
	}
	var out []string
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if strings.HasSuffix(place, "/") {
			what := count(places[place], "file")
			if place == memory.SkillsDir+"/" {
				what = count(len(files.Consolidation().Skills), "skill") + ", " + what
			}
			place = fmt.Sprintf("%s (%s)", place, what)
		}
		out = append(out, place)
	}
	return out
}

// checkSecrets looks through every file of the home: for secrets that were
// planted in its bytes, and for those that the rules find in its text.
func (s *smokeTest) checkSecrets(ctx context.Context, st *store.Store, rows []store.ProjectRow) error {
	found, files := "", 0
	look := func(name string, content []byte) {
		files++
		for _, secret := range s.planted {
			if bytes.Contains(content, []byte(secret)) {
				found = name + " holds a planted secret"
			}
		}
		if bytes.HasPrefix(content, []byte("SQLite format 3\x00")) || strings.HasSuffix(name, ".zst") {
			return // rules are for text; what is inside is looked at below
		}
		for _, f := range s.scanner.Find(string(content)) {
			found = fmt.Sprintf("%s:%d: %s %s", name, f.Line, f.Rule, f.Hint)
		}
	}
	err := filepath.WalkDir(s.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.home, path)
		look(name, content)
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		extractions, err := st.Extractions(ctx, row.ID)
		if err != nil {
			return err
		}
		for _, e := range extractions {
			look("extraction of "+e.SessionKey, []byte(e.Title+"\n"+e.RawMemory+"\n"+e.RolloutSummary+"\n"+e.RolloutSlug))
		}
		root := memory.At(s.home, row.ID)
		generations, err := root.Generations()
		if err != nil {
			return err
		}
		for _, g := range generations {
			archive, err := root.ReadArchive(g.Number)
			if err != nil {
				return err
			}
			for path, content := range archive {
				look(fmt.Sprintf("%s generation %d %s", row.ID, g.Number, path), content)
			}
		}
	}
	good := fmt.Sprintf("none in %s", count(files, "text"))
	if n := len(s.planted); n > 0 {
		good += fmt.Sprintf(", nor any of %d that were planted", n)
	}
	s.verify("secrets", good, found)
	return nil
}

// fingerprints hashes every file below a directory. SQLite's shared memory is no
// content, nor is an empty log, which a reader leaves behind and a writer removes.
func fingerprints(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, databaseName+"-shm") {
			return err
		}
		var content []byte
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			content = []byte(target)
		} else if content, err = os.ReadFile(path); err != nil {
			return err
		} else if len(content) == 0 && strings.HasSuffix(path, databaseName+"-wal") {
			return nil
		}
		sum := sha256.Sum256(content)
		sums[path] = hex.EncodeToString(sum[:])
		return nil
	})
	return sums, err
}

// differing names a file whose bytes are not the same in both, "" if there is none.
func differing(before, after map[string]string) string {
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if after[path] != before[path] {
			return path + " changed"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[path]; !ok {
			return path + " is new"
		}
	}
	return ""
}
