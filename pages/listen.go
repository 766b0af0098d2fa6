package pages

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"memoir"
)

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
