package memoir

// CodeModel is a model's failure.
const CodeModel Code = "model"
