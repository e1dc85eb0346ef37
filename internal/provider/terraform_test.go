package provider_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// terraform is a folder in which a real Terraform works, or OpenTofu where TF_ACC_TERRAFORM_PATH names it. Unlike terraform-plugin-testing
// it runs single commands, so that something can be changed or broken in between, and it tells warnings.
type terraform struct {
	t   *testing.T
	dir string
	env []string

	plugins  string // where Terraform finds the provider
	isolated bool   // every command starts a provider of its own, as for users
}

// newTerraform makes the folder. Every command gets a provider of its own: one that is attached to, or, where tests are about processes, this
// test binary, which TestMain turns into one.
func newTerraform(t *testing.T) *terraform {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugins := t.TempDir()
	if err := os.Symlink(self, filepath.Join(plugins, "terraform-provider-kubefed")); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(plugins, "settings.tfrc")
	overrides := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"kubefed/kubefed\" = %q\n  }\n  direct {}\n}\n", plugins)
	if err := os.WriteFile(settings, []byte(overrides), 0o600); err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "TF_") })
	return &terraform{t: t, dir: t.TempDir(), env: append(env, "TF_CLI_CONFIG_FILE="+settings, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_LOG_SDK=off"), plugins: plugins}
}

// binary is the program that is run.
func binary() string {
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path
	}
	return "terraform"
}

// setenv sets an environment variable for the commands that follow. The provider gets it too, so one of its own is started unless the
// variable is for Terraform alone.
func (tf *terraform) setenv(name, value string) {
	tf.env = append(tf.env, name+"="+value)
	tf.isolated = tf.isolated || !strings.HasPrefix(name, "TF_VAR_")
}

// isolate gives every command a provider process of its own, which has no connections yet.
func (tf *terraform) isolate() *terraform {
	tf.isolated = true
	return tf
}

// configure writes the configuration, in the place of the one before.
func (tf *terraform) configure(parts ...string) {
	tf.t.Helper()
	tf.write("main.tf", requiredProviders+strings.Join(parts, "\n"))
}

// write writes a file beside the configuration.
func (tf *terraform) write(name, text string) {
	tf.t.Helper()
	if err := os.WriteFile(filepath.Join(tf.dir, name), []byte(text), 0o600); err != nil {
		tf.t.Fatal(err)
	}
}

// plan plans and saves the plan; what it found is for the test to judge.
func (tf *terraform) plan(options ...string) *outcome {
	tf.t.Helper()
	return tf.run(append([]string{"plan", "-json", "-input=false", "-out=saved"}, options...)...)
}

// apply plans and applies in one command.
func (tf *terraform) apply(options ...string) *outcome {
	tf.t.Helper()
	return tf.run(append([]string{"apply", "-json", "-input=false", "-auto-approve"}, options...)...)
}

// applySaved applies the plan that was saved.
func (tf *terraform) applySaved() *outcome {
	tf.t.Helper()
	return tf.run("apply", "-json", "-input=false", "saved")
}

// destroy destroys everything in the state.
func (tf *terraform) destroy(options ...string) *outcome {
	tf.t.Helper()
	return tf.run(append([]string{"apply", "-destroy", "-json", "-input=false", "-auto-approve"}, options...)...)
}

// show prints the saved plan as a user reads it.
func (tf *terraform) show() string {
	tf.t.Helper()
	text, err := tf.output("show", "-no-color", "saved")
	if err != nil {
		tf.t.Fatalf("show the saved plan: %v\n%s", err, text)
	}
	return text
}

// command is one of Terraform's, to be run in the folder, with providers of its own.
func (tf *terraform) command(arguments ...string) *exec.Cmd {
	command := exec.CommandContext(tf.t.Context(), binary(), arguments...)
	command.Dir, command.Env = tf.dir, tf.env
	return command
}

func (tf *terraform) output(arguments ...string) (string, error) {
	command := tf.command(arguments...)
	if !tf.isolated {
		variable, end := attached(tf.t)
		defer end()
		command.Env = slices.Concat(command.Env, []string{variable})
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if err != nil {
		err = errors.Join(err, errors.New(stderr.String()))
	}
	return stdout.String(), err
}

// run runs a command that reports in JSON lines.
func (tf *terraform) run(arguments ...string) *outcome {
	tf.t.Helper()
	text, err := tf.output(arguments...)
	o := &outcome{t: tf.t, command: strings.Join(arguments, " "), text: text, changes: map[string]string{}, failed: err != nil}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			o.add(m)
		}
	}
	if err != nil && (len(o.errors) == 0 || strings.Contains(err.Error(), "panic:")) {
		tf.t.Fatalf("%s: %v\n%s", o.command, err, text)
	}
	return o
}

// message is one line of what Terraform reports in JSON.
type message struct {
	Type       string     `json:"type"`
	Diagnostic diagnostic `json:"diagnostic"`
	Change     struct {
		Resource struct {
			Address string `json:"addr"`
		} `json:"resource"`
		Action string `json:"action"`
	} `json:"change"`
}

// diagnostic is an error or a warning as Terraform shows it. Snippet.Code is the line of the configuration that it is about.
type diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Address  string `json:"address"`
	Snippet  struct {
		Code string `json:"code"`
	} `json:"snippet"`
}

func (d diagnostic) String() string {
	return fmt.Sprintf("%s: %s (%s: %s)\n%s", d.Severity, d.Summary, d.Address, strings.TrimSpace(d.Snippet.Code), d.Detail)
}

// outcome is what a command reported.
type outcome struct {
	t                *testing.T
	command, text    string
	errors, warnings []diagnostic
	changes          map[string]string // address → planned action
	failed           bool
}

func (o *outcome) add(m message) {
	switch {
	case m.Type == "planned_change" && (m.Change.Action == "noop" || m.Change.Action == "import"):
	case m.Type == "planned_change":
		o.changes[m.Change.Resource.Address] = m.Change.Action
	case m.Type != "diagnostic", strings.Contains(m.Diagnostic.Summary, "development overrides"), strings.Contains(m.Diagnostic.Summary, "Config generation is experimental"):
	case m.Diagnostic.Severity == "error":
		o.errors = append(o.errors, m.Diagnostic)
	default:
		o.warnings = append(o.warnings, m.Diagnostic)
	}
}

func list(diagnostics []diagnostic) string {
	text := ""
	for _, d := range diagnostics {
		text += "\n" + d.String() + "\n"
	}
	return text
}

// succeeds fails the test if the command ended in an error.
func (o *outcome) succeeds() *outcome {
	o.t.Helper()
	if o.failed {
		o.t.Fatalf("%s failed:%s", o.command, list(o.errors))
	}
	return o
}

// sound fails the test if Terraform takes the provider for broken.
func (o *outcome) sound() *outcome {
	o.t.Helper()
	for _, words := range []string{"bug in the provider", "did not respond", "inconsistent result"} {
		if strings.Contains(o.text, words) {
			o.t.Fatalf("%s says %q:%s", o.command, words, list(o.errors))
		}
	}
	return o
}

// quiet fails the test if there was a warning.
func (o *outcome) quiet() *outcome {
	o.t.Helper()
	if len(o.warnings) > 0 {
		o.t.Fatalf("%s warns:%s", o.command, list(o.warnings))
	}
	return o
}

// empty fails the test unless the plan has nothing to do.
func (o *outcome) empty() *outcome {
	o.t.Helper()
	o.succeeds()
	if len(o.changes) > 0 {
		o.t.Fatalf("%s has something to do: %v", o.command, o.changes)
	}
	return o
}

// does fails the test unless the plan has exactly these actions, by address.
func (o *outcome) does(want map[string]string) *outcome {
	o.t.Helper()
	o.succeeds()
	if fmt.Sprint(want) != fmt.Sprint(o.changes) {
		o.t.Fatalf("%s plans %v, want %v", o.command, o.changes, want)
	}
	return o
}

// fails fails the test unless there is exactly one error and it contains all the words.
func (o *outcome) fails(words ...string) diagnostic {
	o.t.Helper()
	return o.one("error", o.errors, words)
}

// warns fails the test unless there is exactly one warning and it contains all the words.
func (o *outcome) warns(words ...string) diagnostic {
	o.t.Helper()
	return o.one("warning", o.warnings, words)
}

func (o *outcome) one(what string, diagnostics []diagnostic, words []string) diagnostic {
	o.t.Helper()
	if len(diagnostics) != 1 {
		o.t.Fatalf("%s gives %d %ss, want one with %q:%s%s", o.command, len(diagnostics), what, words, list(o.errors), list(o.warnings))
	}
	for _, word := range words {
		if !strings.Contains(diagnostics[0].String(), word) {
			o.t.Errorf("%s gives the %s below, which lacks %q:\n%s", o.command, what, word, diagnostics[0])
		}
	}
	return diagnostics[0]
}
