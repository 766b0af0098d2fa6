package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/team/wire"
)

// Bounds of a request.
const (
	patience    = 2 * time.Minute  // for all of it: a push of wire.MaxBytes takes a minute at 0.5 Mbit/s
	begins      = 10 * time.Second // until it is connected, and until the answer begins: a person waits
	beginsAlone = 45 * time.Second // the same of a run in the background
	maxAnswer   = 4 * wire.MaxBytes
)

// client speaks to a hub. Its token goes to that host alone: no redirect is followed.
type client struct {
	url, token string
	http       *http.Client
	told       Told // by the last answer that says so

	again, renew string // hints: of a hub that does not answer, and of one that refuses the token
}

// Told is what a hub says beside its answers; zero: it has not said so.
type Told struct {
	Expires time.Time // when the token ends
	Limited time.Time // until when the hub waits with a newer memory, for a spending limit
}

// newClient returns a client of a hub. http is for this machine alone, since the token would go in the clear.
func newClient(h Hub, begins time.Duration) (*client, error) {
	wrong := func(hint, format string, args ...any) (*client, error) {
		return nil, memoir.Errorf(memoir.CodeUsage, hint, format, args...)
	}
	at, err := url.Parse(h.URL)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery+at.Fragment != "" ||
		at.Scheme != "http" && at.Scheme != "https":
		return wrong("for example https://hub.example.com", "this is no address of a hub")
	case at.Scheme == "http" && !loopback(at.Hostname()):
		return wrong("use https", "http is for a hub on this machine only: the token would go to %s in the clear", at.Host)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // it always is one, with HTTPS_PROXY
	transport.ResponseHeaderTimeout, transport.DialContext = begins, (&net.Dialer{Timeout: begins}).DialContext
	if h.CA != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM([]byte(h.CA)) {
			return wrong("name a file with certificates in PEM", "--ca: no certificate is in it")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	base := strings.TrimRight(h.URL, "/")
	return &client{url: base, token: h.Token, http: &http.Client{
		Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		again: "the next run tries again",
		renew: "ask for a new code, then `memoir team join " + base + "` again; nothing here is lost"}, nil
}

// dial returns the hub that a home has joined, with a client of it.
func dial(home string) (h Hub, c *client, err error) {
	if h, err = Load(home); err == nil {
		c, err = newClient(h, begins)
	}
	return h, c, err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refusal is a hub's answer that it does not do something.
type refusal struct{ wire.Problem }

func (r *refusal) Error() string { return "the hub says: " + r.Title }

// refused returns the code of a refusal; "" for any other error.
func refused(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.Code
	}
	return ""
}

// ends reports whether no other request would succeed either.
func ends(err error) bool {
	code := refused(err)
	return code != wire.CodeForbidden && code != wire.CodeNotFound && code != wire.CodeUsage && code != wire.CodeTooLarge
}

// call makes a request and decodes the answer into out, unless that is nil.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	_, text, err := c.request(ctx, method, path, in, "")
	if err == nil && out != nil {
		if err = json.Unmarshal(text, out); err != nil {
			err = c.unreadable(err)
		}
	}
	return err
}

func (c *client) noHub() error {
	return memoir.Errorf(memoir.CodeHub, "check the address; it may be that of a proxy", "%s is no hub", c.url)
}

func (c *client) unreadable(err error) error {
	return memoir.Errorf(memoir.CodeHub, c.again, "the answer of %s cannot be read: %w", c.url, err)
}

// request makes a request and reads the answer, which has no body if it still has a tag.
func (c *client) request(
	ctx context.Context, method, path string, in any, tag string,
) (res *http.Response, text []byte, err error) {
	body, err := json.Marshal(in)
	if in == nil {
		body = nil
	}
	req, errReq := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err = cmp.Or(err, errReq); err != nil {
		return nil, nil, err
	}
	req.Header.Set(wire.VersionHeader, strconv.Itoa(wire.Version))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "memoir")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	res, err = c.http.Do(req)
	if err != nil {
		hint := c.again
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			hint = "--ca FILE trusts a certificate of your own; a home that has joined takes it with `memoir team join`"
		}
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // the outer one repeats the address
		}
		if ctx.Err() == nil { // what took too long here is no interruption of the command
			err = errors.New(err.Error())
		}
		return nil, nil, memoir.Errorf(memoir.CodeHub, hint, "the hub %s cannot be reached: %w", c.url, err)
	}
	defer func() { _ = res.Body.Close() }()
	if at, err := time.Parse(time.RFC3339, res.Header.Get(wire.ExpiresHeader)); err == nil {
		c.told.Expires = at
	}
	c.told.Limited, _ = time.Parse(time.RFC3339, res.Header.Get(wire.LimitedHeader))
	text, err = io.ReadAll(http.MaxBytesReader(nil, res.Body, maxAnswer))
	switch {
	case err != nil:
		err = c.unreadable(err)
	case res.StatusCode < 300 && res.Header.Get(wire.VersionHeader) == "":
		err = c.noHub()
	case res.StatusCode >= 300 && (res.StatusCode != http.StatusNotModified || tag == ""):
		err = c.problem(res, text)
	}
	return res, text, err
}

// problem returns the error of an answer that is not 2xx.
func (c *client) problem(res *http.Response, text []byte) error {
	var r refusal
	switch to := res.Header.Get("Location"); {
	case res.StatusCode < 400 && to != "":
		return memoir.Errorf(memoir.CodeHub, "`memoir team join` with the address of the hub itself",
			"%s redirects to %q, which is not followed: that host would get the token", c.url, shown(to))
	case json.Unmarshal(text, &r.Problem) != nil || r.Code == "": // something in between answered
		return memoir.Errorf(memoir.CodeHub, c.again, "%s answers %s", c.url, res.Status)
	}
	r.Title, r.Hint = shown(cmp.Or(r.Title, r.Code)), shown(r.Hint)
	if r.Code == wire.CodeRevoked || r.Code == wire.CodeUnauthorised {
		r.Hint = c.renew
	}
	return memoir.Errorf(memoir.CodeHub, r.Hint, "%w", &r)
}

// shown returns a text of a hub for people.
func shown(text string) string { return memoir.Visible(memoir.Cut(text, 200)) }
