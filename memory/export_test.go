package memory

// WithHook returns the root with a function that is called before each write;
// its error stands for the write's failure. A panic or a kill in it is a crash.
func (r Root) WithHook(at func(step string) error) Root {
	r.hook = &hook{at: at}
	return r
}

// CompareLines exposes the line comparison: the operations with their lines.
func CompareLines(a, b []string) (ops []byte, texts []string) {
	for _, l := range compareLines(a, b) {
		ops, texts = append(ops, l.op), append(texts, l.text)
	}
	return ops, texts
}

var (
	EncodeArchive = encodeArchive
	DecodeArchive = decodeArchive
	LegalName     = legalName
)

// Distinct gives the paths in a memory of files with these names on disk, as they are listed.
func Distinct(names []string) (paths []string, ok bool) {
	var files []liveFile
	for _, name := range names {
		legal, fits := legalName(name)
		if !fits {
			return nil, false
		}
		files = append(files, liveFile{name: name, path: legal})
	}
	for _, f := range distinct(files) {
		paths = append(paths, f.path)
	}
	return paths, true
}
