package extract_test

import (
	"testing"

	"memoir"
)

// heard is what was kept of a session in which a person said something after the
// agent had worked: as a preference, or as a fact that they stated.
func heard(t *testing.T, said string) (rules, facts []string) {
	t.Helper()
	e := work().answers("The retry loop in `upload.go` is done, and `client.go` calls it.").says(said).edits("/src/app/client.go").answers("Changed it as you said.").extract(t)
	return of(e, memoir.StatementPreference), of(e, memoir.StatementDecision)
}

func TestStandingInstructionsAreToldFromOneOffRequests(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		// rules in one clause of a request
		"Add a --json flag to the exporter, and keep the public API as it is.":                true,
		"Rewrite the parser, but don't touch the generated files":                             true,
		"refactor the cache module; never log the payload of a message":                       true,
		"Speed up the importer without adding any new dependencies.":                          true,
		"fix the flaky upload test without changing the public interface":                     true,
		"implement the second endpoint, no new dependencies please":                           true,
		"split the service into two packages and make sure the CLI stays backward compatible": true,
		// as tastes
		"I'd rather have small pull requests":                      true,
		"I don't like it when tests sleep":                         true,
		"I don't like mocks in integration tests":                  true,
		"I'm not a fan of inheritance, composition is clearer":     true,
		"we usually put fixtures next to the test that reads them": true,
		"our team squashes on merge, that is the convention":       true,
		"I normally write commit subjects in the imperative":       true,
		"I hate abbreviations in variable names":                   true,
		"I want every handler to have a test":                      true,
		// as general demands
		"All new endpoints should have an integration test":    true,
		"Commit messages should be in English":                 true,
		"Every migration needs a down script":                  true,
		"Error messages should start with a lower-case letter": true,
		// with what has to come first
		"are the tests green? if not, fix them first": true,
		"always run make generate first":              true,
		// as reproaches that tell why
		"why did you touch schema.pb.go? that's generated":                       true,
		"why did you edit the snapshots by hand? they are written by the runner": true,

		// once only
		"use port 9999 for this run":                                    false,
		"don't push yet":                                                false,
		"for now just hard-code the token":                              false,
		"skip the linter just this once":                                false,
		"don't run the slow tests this time":                            false,
		"leave the migration out until I have asked the team":           false,
		"add a sleep there temporarily":                                 false,
		"never mind, do the other file":                                 false,
		"use the staging database for this test":                        false,
		"always on top? no, put the window back where it was this time": false,
		"don't commit, I want to look at it before I get coffee":        false,
		"no tests for this one":                                         false,
		// at hand
		"I don't like this":                                                  false,
		"I don't like that approach":                                         false,
		"I'd rather not do that":                                             false,
		"why did you touch client.go? revert it":                             false,
		"fix this first":                                                     false,
		"rename the helper and update its callers":                           false,
		"add a flag for the output, and print the time":                      false,
		"is it the same in the other package, or are there any differences?": false,
	} {
		rules, _ := heard(t, said)
		if (len(rules) > 0) != want {
			t.Errorf("%q: preferences %q, want any: %v", said, rules, want)
		}
	}
}

func TestWhatAPersonStatesAboutTheirWorkIsKept(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"The vendor API only allows ten requests a second, keep that in mind for the importer":            true,
		"We can't use cgo since the release is cross-compiled on one machine":                             true,
		"reason being that our customers still run the old agent on Windows Server":                       true,
		"Customers depend on the order of the columns in the export":                                      true,
		"The billing schema is owned by another team, we have read access only":                           true,
		"it has to work behind a proxy because most of our users sit in hospitals":                        true,
		"the installer must run on Alpine, where there is no bash":                                        true,
		"The docs folder is generated from the annotations by the release job":                            true,
		"we moved to a monorepo last spring, so the old deploy scripts are dead":                          true,
		"I just want the export to tell people which rows were skipped, so that they can send them again": true,
		"i think it should list every profile, not the active one alone":                                  true,
		"turns out the scheduler drops jobs that take longer than an hour":                                true,

		"the test is failing again now":                          false,
		"now run it against the staging server and show the log": false,
		"can you look at the importer once more?":                false,
		"I want you to do a deep analysis of the importer":       false,
		"i think I got the same error on the second machine too": false,
		"what is the limit of the importer, and who sets it?":    false,
	} {
		rules, facts := heard(t, said)
		if (len(rules) > 0 || holds(facts, "the user: ")) != want {
			t.Errorf("%q: preferences %q, facts %q, want any: %v", said, rules, facts, want)
		}
	}
}

func TestRulesThatAPersonListsOrNotesAreTheirs(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"our rules for this repo\n- never push to main\n- always rebase before you push": "never push to main",
		"# always sign the tags":                            "always sign the tags",
		"two more things:\n1. Never log tokens.\n2. Thanks": "Never log tokens",
	} {
		if rules, _ := heard(t, said); !holds(rules, want) {
			t.Errorf("%q: preferences %q", said, rules)
		}
	}
	for name, said := range map[string]string{
		"a review bot's text": "got this comment from the bot: You should never ignore the error of Close and always wrap it, because otherwise the caller cannot tell what went wrong here.",
		"a quoted readme":     "does that fit us?\n> Always run the installer as root\n> Never skip the checks",
	} {
		if rules, _ := heard(t, said); len(rules) > 0 {
			t.Errorf("%s: preferences %q", name, rules)
		}
	}
}
