package serve

import (
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
	"strings"

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

// Address returns the URL of the pages and the API. A browser that opens the URL with the token gets the cookie.
func Address(l net.Listener, token string) string {
	address := "http://" + l.Addr().String() + "/"
	if token != "" {
		address += "?token=" + token
	}
	return address
}

// cookieName returns the name of the cookie. It contains the port, since browsers send a cookie to all ports of a host.
func cookieName(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return "memoir-" + port
}

// cookie returns the value of the cookie for the browser that sent a request. It holds for one process and for requests
// with the browser's User-Agent.
func (s *server) cookie(r *http.Request) string {
	of := hmac.New(sha256.New, []byte(s.key))
	of.Write([]byte(r.UserAgent()))
	return hex.EncodeToString(of.Sum(nil))
}

// policy is the Content-Security-Policy of pages: they load only the stylesheet, the script and data of this server.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// guard passes requests with the token or the browser's cookie to next. It refuses other host names, and changes
// requested by pages of other origins.
func (s *server) guard(next http.Handler) http.Handler {
	crossing := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
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
			s.refuse(w, r, http.StatusForbidden,
				failure{"this server is not " + s.Clean(memoir.Cut(host, 100)), "use 127.0.0.1", "forbidden"})
			return
		case crossing.Check(r) != nil:
			s.refuse(w, r, http.StatusForbidden, failure{"pages of other origins cannot change memory", "", "forbidden"})
			return
		case r.Method == http.MethodGet && r.URL.Path == "/" && same(r.URL.Query().Get("token"), s.Token):
			http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: s.cookie(r), Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		case !s.known(r):
			h.Set("WWW-Authenticate", "Bearer")
			s.refuse(w, r, http.StatusUnauthorized, failure{"the token is missing or wrong", "open the address that " +
				"`memoir serve` printed; programs send Authorization: Bearer TOKEN", "unauthorized"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// known reports whether a request has the token, or has the cookie and does not come from a page of another origin.
func (s *server) known(r *http.Request) bool {
	if given := r.Header.Get("Authorization"); given != "" {
		scheme, token, _ := strings.Cut(given, " ")
		return strings.EqualFold(scheme, "Bearer") && same(token, s.Token)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	cookie, err := r.Cookie(cookieName(r))
	return err == nil && same(cookie.Value, s.cookie(r))
}

// same compares secrets in constant time. An empty want equals nothing.
func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}
