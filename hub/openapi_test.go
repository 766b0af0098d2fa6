package hub_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memoir/team/wire"
)

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
