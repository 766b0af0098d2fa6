package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHome(t *testing.T) {
	t.Parallel()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ann := t.TempDir()
	for _, test := range []struct {
		name    string
		flag    string
		environ []string
		want    string // or the error, if it begins with "!"
	}{
		{"the flag wins", "/flag", []string{"MEMOIR_HOME=/env", "HOME=/home/ann"}, "/flag"},
		{"then the variable", "", []string{"MEMOIR_HOME=/env/", "XDG_DATA_HOME=/xdg", "HOME=/home/ann"}, "/env"},
		{"a relative variable", "", []string{"MEMOIR_HOME=data/m", "HOME=/home/ann"}, `!MEMOIR_HOME: "data/m" is not an absolute path`},
		{"then XDG", "", []string{"MEMOIR_HOME=", "XDG_DATA_HOME=/xdg", "HOME=/home/ann"}, "/xdg/memoir"},
		{"then HOME", "", []string{"XDG_DATA_HOME=", "HOME=" + ann}, filepath.Join(ann, ".local/share/memoir")},
		{"a relative XDG_DATA_HOME is ignored", "", []string{"XDG_DATA_HOME=xdg", "HOME=" + ann}, filepath.Join(ann, ".local/share/memoir")},
		{"a relative flag is below the working directory", "x/../y", nil, filepath.Join(wd, "y")},
		{"a tilde that the shell left", "~/m", []string{"HOME=/home/ann"}, "/home/ann/m"},
		{"no home at all", "", []string{"PATH=/bin"}, "!no home directory: neither HOME nor XDG_DATA_HOME is an absolute path; set HOME, --home DIR or MEMOIR_HOME"},
		{"a HOME that is not there", "", []string{"HOME=" + filepath.Join(ann, "none")}, "!HOME: stat "},
		{"a relative HOME", "", []string{"HOME=."}, "!no home directory"},
		{"a tilde without a home", "~/m", nil, `!--home: "~/m" needs a home directory, and HOME is not set`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Home(test.flag, test.environ)
			if test.want[0] == '!' {
				checkError(t, err, test.want[1:])
			} else if err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	if got, err := ConfigDir([]string{"HOME=/home/ann"}); err != nil || got != "/home/ann/.config/memoir" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := ConfigDir([]string{"HOME=/home/ann", "XDG_CONFIG_HOME=/c"}); err != nil || got != "/c/memoir" {
		t.Errorf("got %s, %v", got, err)
	}
	_, err := ConfigDir(nil)
	checkError(t, err, "no home directory: neither HOME nor XDG_CONFIG_HOME is an absolute path; set HOME or XDG_CONFIG_HOME")
}
