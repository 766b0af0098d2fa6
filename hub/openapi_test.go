package hub_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/hub"
	"memoir/team/wire"
)

// routeInSource matches an address that machines and load balancers ask, as it is registered.
var routeInSource = regexp.MustCompile(`"([A-Z]+ /(?:v\d+/[^"]*|healthz|readyz))"`)

func TestEachAddressIsServedAndDescribed(t *testing.T) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var described, registered []string
	for path, methods := range doc.Paths {
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			for _, found := range routeInSource.FindAllStringSubmatch(string(source), -1) {
				registered = append(registered, found[1])
			}
		}
	}
	slices.Sort(described)
	slices.Sort(registered)
	if diff := cmp.Diff(described, registered); diff != "" {
		t.Errorf("openapi.json and the hub differ: %s", diff)
	}
	mux := new(hub.Hub).Handler().(*http.ServeMux)
	for _, route := range described {
		method, path, _ := strings.Cut(route, " ")
		if _, serves := mux.Handler(httptest.NewRequest(method, path, nil)); serves != route {
			t.Errorf("%s is answered by %q", route, serves)
		}
	}
}

func TestTheSchemaHasTheFieldsOfTheProtocol(t *testing.T) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{wire.Statement{}, wire.Edit{}, wire.Push{}, wire.Pushed{}, wire.Page{}, wire.Change{}, wire.Join{}, wire.Rotate{},
		wire.Joined{}, wire.Problem{}, wire.Transcript{}, wire.Accepted{}, wire.Accept{}, wire.Machine{},
		wire.Grant{}, wire.Granted{}, wire.Erase{}, wire.Erased{}} {
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(of)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				fields = append(fields, name)
			}
		}
		name := reflect.TypeOf(of).Name()
		slices.Sort(fields)
		if diff := cmp.Diff(fields, slices.Sorted(maps.Keys(doc.Components.Schemas[name].Properties))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
