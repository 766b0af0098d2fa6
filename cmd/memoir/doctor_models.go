package main

import (
	"errors"
	"fmt"

	"memoir"
	"memoir/config"
	"memoir/model"
	"memoir/pipeline"
	"memoir/prompts"
)

// models says for each role which model it is, where its key comes from and what is
// known to be wrong with it. No model is called, and no command is run.
func (d *doctor) models(settings config.Settings) {
	for _, w := range settings.Warnings() {
		d.add(checkWarn, "settings", w.Hint, w.Message)
	}
	for _, role := range pipeline.Roles(settings.ModelRoles) {
		choice, err := pipeline.Choose(settings, role)
		if err == nil {
			err = choice.Check(d.getenv)
		}
		if err != nil {
			hint := memoir.HintOf(err)
			if inner := errors.Unwrap(err); inner != nil { // the check has the role's name already
				err = inner
			}
			d.add(checkFail, role.Setting, hint, err.Error())
			continue
		}
		d.add(checkOK, role.Setting, "", d.aboutModel(choice))
	}
	if err := pipeline.CheckModels(settings); err != nil {
		d.check("models", "", err)
	}
	if settings.Prompts.Dir != "" {
		_, err := prompts.LoadDir(settings.Prompts.Dir)
		d.check("prompts.dir", settings.Prompts.Dir, err)
	}
}

// aboutModel is what a person wants to know of a model before it is called.
func (d *doctor) aboutModel(c pipeline.Choice) string {
	switch {
	case c.Spec.Builtin():
		return model.Builtin
	case c.Options.API == model.APIExec:
		return c.Spec.String() + " runs " + c.Program()
	}
	return fmt.Sprintf("%s at %s; key: %s", c.Spec, c.Options.BaseURL, c.Key.Source(d.getenv))
}
