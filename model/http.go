package model

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"memoir"
)

const (
	// maxBody bounds, in bytes, what is read of one answer: far above any cap on output.
	maxBody = 64 << 20
	// defaultTimeout is the limit of a call for which none is set.
	defaultTimeout = 10 * time.Minute
	// minSecret is how long, in bytes, a key must be to be masked. Local servers take
	// any word for a key, and a shorter one would be masked in the middle of others.
	minSecret = 4
)

// errRedirect refuses a redirect: it would take the key and the text to another
// server than the one that was configured.
var errRedirect = errors.New("the server redirects elsewhere, which is not followed")

// newHTTPClient returns a client that follows no redirect and reads no endless body.
// Connections are those of the process.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport:     boundedBody{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// boundedBody fails a body that goes on beyond maxBody.
type boundedBody struct{ next http.RoundTripper }

func (b boundedBody) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxBody)
	return res, nil
}

// checkReach refuses a key and a base URL with which no request can be made. It
// repeats neither: both may hold a secret.
func checkReach(spec Spec, o Options) error {
	if strings.ContainsFunc(o.Key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return memoir.Errorf(memoir.CodeConfig, "check the provider's keyEnv or keyCommand",
			"the key of provider %s contains spaces or control characters", spec.Provider)
	}
	if o.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return memoir.Errorf(memoir.CodeConfig, "check the provider's baseURL",
			"the base URL of provider %s is no http or https URL", spec.Provider)
	}
	return nil
}

// interrupted is the failure of a call that ended because its context did: that of
// the caller, or the time limit of the call.
func interrupted(ctx context.Context, name string, timeout time.Duration) *Error {
	if err := ctx.Err(); err != nil {
		return &Error{Class: ClassTemporary, Model: name, Message: err.Error(), Err: err}
	}
	return &Error{Class: ClassTemporary, Model: name, Message: fmt.Sprintf("no answer within %s", timeout), Err: context.DeadlineExceeded}
}

// unanswered is the failure of a call to which no whole answer came. Of the
// cause only a network error inside it is kept: what is around it quotes the request.
func unanswered(name, key string, err error) *Error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	e := &Error{Class: ClassTemporary, Model: name, Message: clip(err.Error(), key)}
	var dial *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errRedirect):
		e.Class, e.Err, e.Message = ClassMissing, errRedirect, errRedirect.Error()
	case errors.As(err, &dns):
		e.Class, e.Err, e.Message = ClassUnreachable, dns, dns.Error()
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Class, e.Err, e.Message = ClassUnreachable, dial, dial.Error()
	case errors.Is(err, http.ErrSchemeMismatch), isCertificate(err):
		e.Class = ClassUnreachable
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Err, e.Message = io.ErrUnexpectedEOF, "the connection broke in the middle of the answer"
	case errors.As(err, &dial):
		e.Err, e.Message = dial, dial.Error()
	}
	return e
}

// isCertificate reports whether a server could not prove who it is.
func isCertificate(err error) bool {
	var invalid *tls.CertificateVerificationError
	return errors.As(err, &invalid)
}

// clip makes of foreign words what may be told: on one line, without the key, at most maxMessage bytes.
func clip(text, key string) string {
	if len(key) >= minSecret {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// retryAfter reads how long a server asks to wait: in milliseconds, in seconds, or
// until a date, which is compared with the server's own clock where it tells it.
// Zero if it asks for nothing.
func retryAfter(h http.Header) time.Duration {
	const most = float64(1<<63-1) / float64(time.Second) / 2
	for _, unit := range []struct {
		header string
		unit   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(unit.header), 64); err == nil && n > 0 {
			return time.Duration(min(n, most) * float64(unit.unit))
		}
	}
	until, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}
