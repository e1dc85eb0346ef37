package registry_test

import (
	"errors"
	"testing"

	"github.com/kubefed/terraform-provider-kubefed/internal/kubetest"
	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

func TestAClusterHasOneNameInTheProviderBlock(t *testing.T) {
	cluster, other := kubetest.Member(t, 1), kubetest.Member(t, 2)
	members, err := registry.New(registry.Config{Static: map[string]registry.Static{
		"a": {Config: cluster.RESTConfig()}, "b": {Config: kubetest.NewProxy(t, cluster).RESTConfig()}, "c": {Config: other.RESTConfig()}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "c", "a"} {
		if _, err := members.Open(t.Context(), name); err != nil {
			t.Errorf("open %s: %v", name, err)
		}
	}
	_, err = members.Open(t.Context(), "b")
	var twice *member.UnreachableError
	if !errors.As(err, &twice) || twice.Class != member.ClassTwice {
		t.Errorf("the cluster opens under a second name: %v", err)
	}
}
