// Package hubtest runs real servers for tests: PostgreSQL and PgBouncer of the system in a temporary directory, and
// hubs on them. Read cluster.go first (the processes), then hubtest.go (what a test asks for).
package hubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// The roles of a cluster: one owns and migrates, one serves.
const (
	Owner = "hub_owner"
	Serve = "hub_serve"
)

// ErrMissing is the error of Start where PostgreSQL or PgBouncer is not installed.
var ErrMissing = errors.New("PostgreSQL or PgBouncer is not installed")

// nobody is the user of the servers when root runs the tests: they refuse to run as root.
const nobody = 65534

// Cluster is a PostgreSQL server with a PgBouncer in transaction mode in front of it.
type Cluster struct {
	dir, bin   string
	port, pool int
	watcher    *exec.Cmd
	held       io.Closer // the watcher stops everything when this is closed, also by our death
}

// Start creates a cluster. With durable, PostgreSQL waits for the disk as in production.
func Start(durable bool) (_ *Cluster, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if _, err := exec.LookPath("pgbouncer"); err != nil || len(found) == 0 {
		return nil, ErrMissing
	}
	c := &Cluster{bin: filepath.Dir(found[len(found)-1])}
	if c.dir, err = os.MkdirTemp("", "memoir-hub-"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(c.dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	if err := c.watch(); err != nil {
		return nil, err
	}
	if err := c.create(durable); err != nil {
		c.Stop()
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", c.dir, err)
	}
	return c, nil
}

// watch starts a process that ends the servers and removes their files once our end of its input is closed.
func (c *Cluster) watch() (err error) {
	c.watcher = c.command("sh", "-c", `trap "" INT HUP TERM; cat >/dev/null
		"$0" -D data -m fast stop; kill -9 $(cat pgbouncer.pid); rm -rf ./*`, filepath.Join(c.bin, "pg_ctl"))
	if c.held, err = c.watcher.StdinPipe(); err != nil {
		return err
	}
	return c.watcher.Start()
}

// Stop ends the servers and removes their files.
func (c *Cluster) Stop() {
	_ = c.held.Close()
	_ = c.watcher.Wait() // it fails where a server did not run any more
	_ = os.RemoveAll(c.dir)
}

func (c *Cluster) create(durable bool) error {
	var err error
	if c.port, err = freePort(); err == nil {
		c.pool, err = freePort()
	}
	if err != nil {
		return err
	}
	err = c.run(c.tool("initdb"), "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
	if err != nil {
		return err
	}
	settings := fmt.Sprintf("port = %d\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"+
		"dynamic_shared_memory_type = mmap\nmax_connections = 200\n", c.port)
	if !durable {
		settings += "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n"
	}
	users, pooler := "", fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"+
		"listen_port = %d\nunix_socket_dir =\npool_mode = transaction\nauth_type = trust\nauth_file = users.txt\n"+
		"default_pool_size = 4\nserver_login_retry = 1\nmax_client_conn = 2000\n"+
		"pidfile = pgbouncer.pid\nlogfile = pgbouncer.log\n", c.port, c.pool)
	for _, name := range []string{"postgres", Owner, Serve} {
		users += strconv.Quote(name) + ` ""` + "\n"
	}
	for name, text := range map[string]string{
		"data/postgresql.auto.conf": settings, "pgbouncer.ini": pooler, "users.txt": users,
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := c.Restart(); err != nil {
		return err
	}
	if err := c.run("pgbouncer", "-q", "-d", "pgbouncer.ini"); err != nil {
		return err
	}
	return c.Exec("postgres", "CREATE ROLE "+Owner+" LOGIN; CREATE ROLE "+Serve+" LOGIN")
}

// Restart starts PostgreSQL again after Crash.
func (c *Cluster) Restart() error {
	return c.run(c.tool("pg_ctl"), "-D", "data", "-l", "postgres.log", "-w", "-t", "60", "start")
}

// Crash stops PostgreSQL at once, as a failure of the machine would but for the disk.
func (c *Cluster) Crash() error {
	return c.run(c.tool("pg_ctl"), "-D", "data", "-m", "immediate", "-w", "stop")
}

// URL returns the address of a database for a role; pooled through PgBouncer.
func (c *Cluster) URL(role, database string, pooled bool) string {
	port := c.port
	if pooled {
		port = c.pool
	}
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, port, database)
}

// Dir returns where the cluster's files are.
func (c *Cluster) Dir() string { return c.dir }

// Exec runs SQL as superuser in a database.
func (c *Cluster) Exec(database, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.URL("postgres", database, false))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// Tool runs a program of PostgreSQL, such as pg_dump, as the user of the servers, and returns what it prints.
func (c *Cluster) Tool(name string, args ...string) ([]byte, error) {
	cmd := c.command(c.tool(name), args...)
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return out, fmt.Errorf("%s: %w: %s", name, err, failed.Stderr)
	}
	return out, err
}

// CPU returns the processor time of PostgreSQL and PgBouncer so far.
func (c *Cluster) CPU() (used time.Duration) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range all {
		if cwd, _ := os.Readlink(filepath.Join(process, "cwd")); cwd == c.dir || cwd == filepath.Join(c.dir, "data") {
			used += CPU(filepath.Base(process))
		}
	}
	return used
}

// CPU returns the processor time of a process so far; 0 if it has ended.
func CPU(pid string) (used time.Duration) {
	text, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[min(11, len(fields)):min(13, len(fields))] { // user and system time
		ticks, _ := strconv.Atoi(field)
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return used
}

func (c *Cluster) tool(name string) string { return filepath.Join(c.bin, name) }

func (c *Cluster) run(name string, args ...string) error {
	// A file takes what is printed: the daemons keep it open, and nobody reads a pipe of theirs.
	log, err := os.CreateTemp(c.dir, "log-")
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.command(name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, said)
	}
	return nil
}

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
