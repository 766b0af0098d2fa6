package memory

// WithHook returns the root with a function that is called before each write;
// its error stands for the write's failure. A panic or a kill in it is a crash.
func (r Root) WithHook(at func(step string) error) Root {
	r.hook = &hook{at: at}
	return r
}

var (
	EncodeArchive = encodeArchive
	DecodeArchive = decodeArchive
)
