package store

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// toolsColumn has the commands and errors of a session as packed JSON: they are many, and much of them is equal.
const toolsColumn = "tools"

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPacked))
})

const maxPacked = 64 << 20 // bytes of an unpacked text

// pack packs a text for a column. Equal texts have equal bytes. It is the SQL function packed, and unpack is plain.
func pack(text string) ([]byte, error) {
	p, err := packer()
	if err != nil || text == "" {
		return []byte{}, err
	}
	return p.EncodeAll([]byte(text), nil), nil
}

func unpack(bytes []byte) (string, error) {
	p, err := unpacker()
	if err != nil {
		return "", err
	}
	text, err := p.DecodeAll(bytes, nil)
	return string(text), err
}

// PackTools packs the commands and errors of a session, before the transaction that stores them.
func PackTools(tools []Message) ([]byte, error) {
	text, err := encodeTools(tools)
	if err != nil {
		return nil, err
	}
	return pack(text)
}

func encodeTools(tools []Message) (string, error) {
	if len(tools) == 0 {
		return "", nil
	}
	for i := range tools { // times to the second are packed better
		tools[i].At = tools[i].At.Truncate(time.Second)
	}
	text, err := json.Marshal(tools)
	return string(text), err
}

func decodeTools(text string) (tools []Message, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &tools)
	}
	return tools, err
}
