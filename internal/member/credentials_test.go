package member_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// plugin writes a credential plugin.
func plugin(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACredentialPluginThatFailsIsAMistakeOfTheConnection(t *testing.T) {
	t.Parallel()
	proxy := kubetest.NewProxy(t, kubetest.Member(t, 1))
	for name, command := range map[string]string{
		"missing": filepath.Join(t.TempDir(), "none"), "exit code": plugin(t, "exit 3"), "garbage": plugin(t, "echo garbage"), "nothing": plugin(t, "true"),
	} {
		cfg := proxy.RESTConfig()
		cfg.BearerToken, cfg.BearerTokenFile, cfg.CertData, cfg.KeyData = "", "", nil, nil
		cfg.ExecProvider = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: command, InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
		_, err := dial(t, cfg, options()).Kinds(t.Context())
		unreachable(t, name, err, member.ClassConfig)
		var u *member.UnreachableError
		if errors.As(err, &u) && (u.Down() || !u.Misconfigured() || u.MayHaveArrived() || !strings.Contains(err.Error(), "credentials")) {
			t.Errorf("%s: down %v, misconfigured %v: %v", name, u.Down(), u.Misconfigured(), err)
		}
	}
	if n := proxy.Connections(); n > 0 {
		t.Errorf("the member was dialled %d times", n)
	}
	cfg := proxy.RESTConfig()
	cfg.BearerToken = ""
	cfg.ExecProvider = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		Command: plugin(t, `printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"wrong"}}'`)}
	_, err := dial(t, cfg, options()).Kinds(t.Context())
	unreachable(t, "a token that is refused", err, member.ClassUnauthorized)
	cfg = proxy.RESTConfig()
	proxy.Refuse()
	_, err = dial(t, cfg, options()).Kinds(t.Context())
	unreachable(t, "a member that is down", err, member.ClassNetwork)
}
