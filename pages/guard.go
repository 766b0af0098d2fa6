package pages

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"strings"

	"memoir"
)

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

// Handler passes requests with the token or the browser's cookie to next. It refuses other host names, and changes
// requested by pages of other origins.
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
