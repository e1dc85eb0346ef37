package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// prepare makes a folder with the quickstart and the provider for Terraform, and
// runs init. The provider comes from a mirror on disk: no registry is asked.
func (d *demo) prepare(ctx context.Context) error {
	d.work = filepath.Join(d.dir, "quickstart")
	if err := os.CopyFS(d.work, os.DirFS(filepath.Join(d.root, "examples", "quickstart"))); err != nil {
		return err
	}
	mirror := filepath.Join(d.dir, "mirror")
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		folder := filepath.Join(mirror, host, "kubefed", "kubefed", d.version, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.Symlink(d.provider, filepath.Join(folder, "terraform-provider-kubefed_v"+d.version)); err != nil {
			return err
		}
	}
	settings := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	if err := os.WriteFile(d.settings(), []byte(settings), 0o600); err != nil {
		return err
	}
	say("Running %s init", filepath.Base(d.tool))
	_, err := d.terraform(ctx, "init", "-input=false")
	return err
}

func (d *demo) settings() string { return filepath.Join(d.dir, "terraformrc") }

// terraform runs one command, shows what it prints, and returns it.
func (d *demo) terraform(ctx context.Context, arguments ...string) (string, error) {
	return d.show(ctx, os.Stdout, arguments...)
}

// show is terraform with another place for what the command prints.
func (d *demo) show(ctx context.Context, out io.Writer, arguments ...string) (string, error) {
	fmt.Printf("$ %s %s\n", filepath.Base(d.tool), strings.Join(arguments, " "))
	arguments = append(arguments[:1:1], append([]string{"-no-color"}, arguments[1:]...)...)
	command := exec.CommandContext(ctx, d.tool, arguments...)
	command.Dir = d.work
	command.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+d.settings(), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"TF_VAR_kubeconfig="+filepath.Join(d.dir, "config"))
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	var text bytes.Buffer
	command.Stdout = io.MultiWriter(out, &text)
	command.Stderr = io.MultiWriter(os.Stderr, &text)
	if err := command.Run(); err != nil {
		return text.String(), fmt.Errorf("%s %s: %w", filepath.Base(d.tool), arguments[0], err)
	}
	return text.String(), nil
}
