package memory_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"memoir"
	"memoir/memory"
)

// entry is one member of an archive that memoir would not write.
type entry struct {
	header  tar.Header
	content string
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
	must(t, err)
	w := tar.NewWriter(z)
	for _, e := range entries {
		if e.header.Typeflag == 0 {
			e.header.Typeflag = tar.TypeReg
		}
		if e.header.Typeflag == tar.TypeReg {
			e.header.Size = int64(len(e.content))
		}
		must(t, w.WriteHeader(&e.header))
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Close())
	must(t, z.Close())
	return buf.Bytes()
}

func manifestOf(files memory.Files) entry {
	return entry{tar.Header{Name: "manifest.json"}, string(memory.Manifest{}.Describing(1, files).Encode())}
}

func file(name, content string) entry { return entry{tar.Header{Name: name}, content} }

func TestArchivesThatMemoirDidNotWriteAreRefused(t *testing.T) {
	t.Parallel()
	one := memory.Files{"a": []byte("a")}
	much := []entry{manifestOf(one)}
	for i := range 6 {
		much = append(much, file(string(rune('a'+i)), strings.Repeat("\x00", 15<<20)))
	}
	good := pack(t, manifestOf(one), file("a", "a"))
	tests := map[string][]byte{
		"nothing":                     {},
		"no zstd":                     []byte("PK\x03\x04"),
		"no manifest":                 pack(t, file("a", "a")),
		"a manifest that is none":     pack(t, file("manifest.json", "{")),
		"a manifest of later form":    pack(t, file("manifest.json", `{"version":2,"generation":1}`)),
		"a manifest twice":            pack(t, manifestOf(one), file("a", "a"), manifestOf(one)),
		"a path that climbs":          pack(t, manifestOf(memory.Files{"../a": []byte("a")}), file("../a", "a")),
		"an absolute path":            pack(t, manifestOf(memory.Files{"/a": []byte("a")}), file("/a", "a")),
		"a path the manifest lacks":   pack(t, manifestOf(one), file("a", "a"), file("b", "b")),
		"a file the archive lacks":    pack(t, manifestOf(one)),
		"other content":               pack(t, manifestOf(one), file("a", "b")),
		"a file twice":                pack(t, manifestOf(one), file("a", "a"), file("a", "a")),
		"a symbolic link":             pack(t, manifestOf(one), entry{tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}),
		"a directory":                 pack(t, manifestOf(one), entry{tar.Header{Name: "a/", Typeflag: tar.TypeDir}, ""}),
		"cut short":                   good[:len(good)-12],
		"a file above the limit":      pack(t, manifestOf(one), file("a", strings.Repeat("a", 16<<20+1))),
		"much from little":            pack(t, much...),
		"another generation's number": pack(t, file("manifest.json", `{"version":1,"generation":2}`)),
	}
	for name, data := range tests {
		r := memory.At(t.TempDir(), project)
		publish(t, r, 3, generation(3))
		must(t, os.WriteFile(r.Archive(1), data, 0o600))
		if files, err := r.ReadArchive(1); memoir.CodeOf(err) != memoir.CodeStorage {
			t.Errorf("%s: got %d files and %v", name, len(files), err)
		}
		generations, err := r.Generations()
		if err != nil || len(generations) != 2 || generations[1].Err != nil {
			t.Errorf("%s: the list of generations breaks: %v", name, err)
		}
	}
	r := memory.At(t.TempDir(), project)
	publish(t, r, 1, generation(1))
	aside := filepath.Join(t.TempDir(), "1")
	must(t, errors.Join(os.Rename(r.Archive(1), aside), os.Symlink(aside, r.Archive(1))))
	if files, err := r.ReadArchive(1); memoir.CodeOf(err) != memoir.CodeStorage {
		t.Errorf("through a link: got %d files and %v", len(files), err)
	}
	if _, _, err := memory.DecodeArchive(bytes.NewReader(good), true); err != nil {
		t.Errorf("the archive that is changed above is not good: %v", err)
	}
}

func FuzzDecodeArchive(f *testing.F) {
	files := generation(1)
	packed, err := memory.EncodeArchive(files, manifest(1).Encode())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(packed[:len(packed)/2])
	f.Add([]byte{})
	f.Add(pack(f, manifestOf(memory.Files{"a": nil}), file("../a", "")))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, m, err := memory.DecodeArchive(bytes.NewReader(data), true)
		if err != nil {
			return
		}
		for path := range files {
			if err := memoir.CheckPath(path); err != nil {
				t.Error(err)
			}
		}
		again, err := memory.EncodeArchive(files, m.Encode())
		must(t, err)
		if back, _, err := memory.DecodeArchive(bytes.NewReader(again), true); err != nil || !back.Equal(files) {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
