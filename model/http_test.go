package model

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

// endlessBody is a body without an end.
type endlessBody struct{}

func (endlessBody) Read(p []byte) (int, error) { return len(p), nil }
func (endlessBody) Close() error               { return nil }

func TestBodyWithoutAnEndIsNotRead(t *testing.T) {
	t.Parallel()
	res, err := untold(&http.Request{Header: http.Header{}}, func(*http.Request) (*http.Response, error) {
		return &http.Response{Body: endlessBody{}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, res.Body); n > maxBody+1<<20 || !errors.Is(err, errTooMuch) {
		t.Errorf("read %d bytes: %v", n, err)
	}
}
