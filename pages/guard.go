package pages

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"memoir"
	"memoir/internal/disk"
	"memoir/internal/failpoint"
	"memoir/internal/lazyregexp"
)

// TokenFile is the file in a home that holds the token.
const TokenFile = "token"

// tokenForm matches a token: base32 of at least 128 bits.
var tokenForm = lazyregexp.New(`^[A-Z2-7]{26,100}$`)

// TokenOf returns the token of a home. It creates a new one if the file is missing, damaged or accessible to other
// users. The caller's alone calls a function while no other process creates a token.
func TokenOf(home string, alone func(func() error) error) (string, error) {
	path := filepath.Join(home, TokenFile)
	token := readToken(path)
	if token != "" {
		return token, nil
	}
	err := alone(func() error {
		if token = readToken(path); token != "" {
			return nil
		}
		token = rand.Text()
		err := failpoint.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = failpoint.WriteFile(path, []byte(token+"\n"), 0o600) // readToken refuses a partial write
		}
		if err != nil {
			return memoir.Errorf(memoir.CodeStorage, disk.HintOr(err, "--home"), "store the server's token in %s: %w", path, err)
		}
		return nil
	})
	return token, err
}

func readToken(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return ""
	}
	content, err := disk.ReadFile(path, 1<<10)
	token := strings.TrimSpace(string(content))
	if err != nil || !tokenForm.MatchString(token) {
		return ""
	}
	return token
}

// A Guard is what requests to a server on a loopback address pass. Its only state is the key of its cookies.
type Guard struct {
	Token   string // of at least 128 bits, in base32
	Command string // that prints the address
	// Refuse answers a request with an error.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, f Failure)

	key string // of the cookies, which browsers send instead of the token
}

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// cookieName returns the name of the cookie. It contains the port, since browsers send a cookie to all ports of a host.
func cookieName(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return "memoir-" + port
}

// cookie returns the value of the cookie for the browser that sent a request. It holds for one process and for requests
// with the browser's User-Agent.
func (g Guard) cookie(r *http.Request) string {
	of := hmac.New(sha256.New, []byte(g.key))
	of.Write([]byte(r.UserAgent()))
	return hex.EncodeToString(of.Sum(nil))
}

// Policy is the Content-Security-Policy of pages: they load only the stylesheet, the script and data of this server.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// Handler passes requests with the token or the browser's cookie to next, and those for the stylesheet. It refuses
// other host names, and changes requested by pages of other origins.
func (g Guard) Handler(next http.Handler) http.Handler {
	g.key = rand.Text()
	crossing := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		switch {
		case host != "127.0.0.1" && host != "localhost":
			g.Refuse(w, r, http.StatusForbidden,
				Failure{"this server is not " + memoir.Visible(memoir.Cut(host, 100)), "use 127.0.0.1", "forbidden"})
			return
		case crossing.Check(r) != nil:
			g.Refuse(w, r, http.StatusForbidden, Failure{"pages of other origins cannot change memory", "", "forbidden"})
			return
		case r.Method == http.MethodGet && r.URL.Path == "/" && same(r.URL.Query().Get("token"), g.Token):
			http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: g.cookie(r), Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		case r.Method == http.MethodGet && r.URL.Path == "/style.css": // the page of a refusal needs it
		case !g.known(r):
			h.Set("WWW-Authenticate", "Bearer")
			g.Refuse(w, r, http.StatusUnauthorized, Failure{"the token is missing or wrong", "open the address that `" +
				g.Command + "` printed; programs send Authorization: Bearer TOKEN", "unauthorized"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// known reports whether a request has the token, or has the cookie and does not come from a page of another origin.
func (g Guard) known(r *http.Request) bool {
	if given := r.Header.Get("Authorization"); given != "" {
		scheme, token, _ := strings.Cut(given, " ")
		return strings.EqualFold(scheme, "Bearer") && same(token, g.Token)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && same(cookie.Value, g.cookie(r))
}

// same compares secrets in constant time. An empty want equals nothing.
func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// Listen opens a port of 127.0.0.1; 0 is any free port.
func Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, memoir.Errorf(memoir.CodeUsage, "without --port, a free one is used", "open port %d: %w", port, err)
	}
	return l, nil
}

// Address returns the URL of the pages and the API. A browser that opens the URL with the token gets the cookie.
func Address(l net.Listener, token string) string {
	address := "http://" + l.Addr().String() + "/"
	if token != "" {
		address += "?token=" + token
	}
	return address
}

// grace is the time that open requests have to end after ctx is done.
const grace = 3 * time.Second

// Run answers requests until ctx is done. Open requests then have a grace period to end.
func Run(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 5 * time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
