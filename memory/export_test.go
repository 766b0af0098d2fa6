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
