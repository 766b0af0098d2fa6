package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"

	"memoir"
)

const (
	// maxBody bounds, in bytes, what is read of one answer: hundreds of times the
	// longest that a model gives.
	maxBody = 64 << 20
	// maxRedirects is how often a server may send a call elsewhere on itself.
	maxRedirects = 3
	// idleConnections is how many connections to a server are kept, so that a run's
	// workers need not shake hands for each call.
	idleConnections = 16
)

// errTooMuch is an answer beyond maxBody.
var errTooMuch = errors.New("the answer does not end")

// newHTTPClient returns a client that stays with the server that it was told to
// ask: the key, and with it the text of somebody's session, goes to no other.
func newHTTPClient() *http.Client {
	client := &http.Client{CheckRedirect: sameServer}
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = transport.Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		client.Transport = transport
	}
	return client
}

// untold is the middleware of each SDK: it takes out of a call what the SDK tells of the
// machine, and bounds the answer.
func untold(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			r.Header.Del(name)
		}
	}
	r.Header.Set("User-Agent", "memoir")
	res, err := next(r)
	if res != nil && res.Body != nil {
		res.Body = &boundedBody{ReadCloser: res.Body, left: maxBody}
	}
	return res, err
}

// A sending watches whether a request got as far as a server.
type sending struct{ begun atomic.Bool }

// watch returns the context to send the request with. A connection is what counts:
// all that is left then is to write to it.
func (s *sending) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.begun.Store(true) }})
}

// sameServer follows a redirect within a server that repeats the whole request, and
// hands back any other as the answer.
func sameServer(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// boundedBody fails when more than left bytes are read from it.
type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read reads, and fails with errTooMuch beyond the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooMuch
	}
	return n, err
}

// checkKey fails with memoir.CodeConfig if a key cannot be sent in a header. The error
// does not repeat it.
func checkKey(spec Spec, key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return memoir.Errorf(memoir.CodeConfig, "check the provider's keyEnv or keyCommand",
			"the key of provider %s contains spaces or control characters", spec.Provider)
	}
	return nil
}

// checkBaseURL fails with memoir.CodeConfig unless text is a URL that can be called.
// The error does not repeat it, for it may hold a password.
func checkBaseURL(spec Spec, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || strings.ContainsAny(text, " \t\n") {
		return memoir.Errorf(memoir.CodeConfig, "write it as https://host/v1", "the baseURL of provider %s is no URL of http or https", spec.Provider)
	}
	return nil
}
