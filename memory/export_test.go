package memory

var (
	EncodeArchive = encodeArchive
	DecodeArchive = decodeArchive
)
