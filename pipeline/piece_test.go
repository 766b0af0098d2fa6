package pipeline_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"memoir/pipeline"
)

func TestPiecesEndAtLinesAndLoseNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		size       int
		want       []string
	}{
		{"empty", "", 8, nil},
		{"one piece", "a\nb", 8, []string{"a\nb"}},
		{"several", "aaaa\nbbbb\ncccc\ndd", 8, []string{"aaaa\n", "bbbb\n", "cccc\ndd"}},
		{"a block stays whole", "aaaaaa\n-----BEGIN K\nbb\ncc\n-----END K\nd", 32, []string{"aaaaaa\n", "-----BEGIN K\nbb\ncc\n-----END K\nd"}},
		{"a block that is longer than a piece", "-----BEGIN K\nbb\ncc\n-----END K\nd", 17, []string{"-----BEGIN K\nbb\n", "cc\n-----END K\nd"}},
		{"a line that is longer than a piece", "aaaaaaaaaaaaaaaa\nb", 8, []string{"aaaaaaaa", "aaaaaaaa", "\nb"}},
	} {
		var got []string
		r := oneByteReader{strings.NewReader(test.text)}
		err := pipeline.Pieces(context.Background(), r, test.size, func(piece string) error {
			got = append(got, piece)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "") != test.text {
			t.Errorf("%s: lost something: %q", test.name, got)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// oneByteReader reads as slowly as a pipe may.
type oneByteReader struct{ r *strings.Reader }

func (o oneByteReader) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }
