package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"
)

// manager is the field manager of what these helpers write, unless a test names
// another.
const manager = "kubetest"

// Object is a Kubernetes object as a test gives it: a JSON tree
// (map[string]any), an *unstructured.Unstructured, or YAML text (string).
type Object any

// Get returns an object and fails the test if there is none. An empty
// namespace is for kinds without one, here and below.
func (c *Cluster) Get(t testing.TB, apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	found, ok := c.Find(t, apiVersion, kind, namespace, name)
	if !ok {
		t.Fatalf("get %s %s/%s in %s: not found", kind, namespace, name, c.Name)
	}
	return found
}

// Find returns an object and whether there is one.
func (c *Cluster) Find(t testing.TB, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, bool) {
	t.Helper()
	ctx, cancel := callContext()
	defer cancel()
	found, err := c.client(t, apiVersion, kind, namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, false
	}
	c.must(t, err, "get", kind, namespace, name)
	return found, true
}

// List returns the objects of a kind, of all namespaces if namespace is empty,
// that a label selector (empty: all) picks.
func (c *Cluster) List(t testing.TB, apiVersion, kind, namespace, selector string) []unstructured.Unstructured {
	t.Helper()
	ctx, cancel := callContext()
	defer cancel()
	list, err := c.client(t, apiVersion, kind, namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	c.must(t, err, "list", kind, namespace, "")
	return list.Items
}

// AwaitServed waits until discovery names an API, which it does some time after
// the definition of its kind was established.
func (c *Cluster) AwaitServed(t testing.TB, apiVersion string) {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		_, lists, err := client.ServerGroupsAndResources()
		if !slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == apiVersion }) {
			return fmt.Errorf("%s does not serve %s yet (%w)", c.Name, apiVersion, err)
		}
		return nil
	})
}

// Create creates an object and returns it as the server stored it.
func (c *Cluster) Create(t testing.TB, object Object) *unstructured.Unstructured {
	t.Helper()
	o := tree(t, object)
	ctx, cancel := callContext()
	defer cancel()
	made, err := c.clientOf(t, o).Create(ctx, o, metav1.CreateOptions{FieldManager: manager})
	c.must(t, err, "create", o.GetKind(), o.GetNamespace(), o.GetName())
	return made
}

// Apply applies an object on the server's side as the given field manager.
// Without force, a conflict with another manager fails the test.
func (c *Cluster) Apply(t testing.TB, manager string, force bool, object Object) *unstructured.Unstructured {
	t.Helper()
	o := tree(t, object)
	ctx, cancel := callContext()
	defer cancel()
	applied, err := c.clientOf(t, o).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: manager, Force: force})
	c.must(t, err, "apply", o.GetKind(), o.GetNamespace(), o.GetName())
	return applied
}

// Update replaces an object. Without a resourceVersion in it, the server
// overwrites whatever is there, for the kinds where it allows that.
func (c *Cluster) Update(t testing.TB, object Object) *unstructured.Unstructured {
	t.Helper()
	o := tree(t, object)
	ctx, cancel := callContext()
	defer cancel()
	updated, err := c.clientOf(t, o).Update(ctx, o, metav1.UpdateOptions{FieldManager: manager})
	c.must(t, err, "update", o.GetKind(), o.GetNamespace(), o.GetName())
	return updated
}

// Edit reads an object, lets change make another of it, and writes that back as
// the given field manager, as kubectl edit does; again if somebody else has
// written the object in between.
func (c *Cluster) Edit(t testing.TB, manager, apiVersion, kind, namespace, name string, change func(object map[string]any) map[string]any) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := callContext()
	defer cancel()
	var edited *unstructured.Unstructured
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := tree(t, change(c.Get(t, apiVersion, kind, namespace, name).Object))
		var err error
		edited, err = c.clientOf(t, o).Update(ctx, o, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
	c.must(t, err, "edit", kind, namespace, name)
	return edited
}

// UpdateStatus replaces an object's status through the status subresource, as
// a controller would. It needs the object's resourceVersion.
func (c *Cluster) UpdateStatus(t testing.TB, object Object) *unstructured.Unstructured {
	t.Helper()
	o := tree(t, object)
	ctx, cancel := callContext()
	defer cancel()
	updated, err := c.clientOf(t, o).UpdateStatus(ctx, o, metav1.UpdateOptions{FieldManager: manager})
	c.must(t, err, "update the status of", o.GetKind(), o.GetNamespace(), o.GetName())
	return updated
}

// MergePatch changes an object by a JSON merge patch, given as a JSON tree or
// as YAML text, and optionally one of its subresources.
func (c *Cluster) MergePatch(t testing.TB, apiVersion, kind, namespace, name string, patch any, subresources ...string) *unstructured.Unstructured {
	t.Helper()
	body, err := json.Marshal(patch)
	if text, ok := patch.(string); ok {
		body, err = yaml.YAMLToJSON([]byte(text))
	}
	c.must(t, err, "read the patch of", kind, namespace, name)
	ctx, cancel := callContext()
	defer cancel()
	patched, err := c.client(t, apiVersion, kind, namespace).
		Patch(ctx, name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager}, subresources...)
	c.must(t, err, "patch", kind, namespace, name)
	return patched
}

// Delete deletes an object, its dependents in the background, without waiting
// until it is gone. An object that is not there is no error.
func (c *Cluster) Delete(t testing.TB, apiVersion, kind, namespace, name string) {
	t.Helper()
	background := metav1.DeletePropagationBackground
	ctx, cancel := callContext()
	defer cancel()
	err := c.client(t, apiVersion, kind, namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background})
	if !apierrors.IsNotFound(err) {
		c.must(t, err, "delete", kind, namespace, name)
	}
}

func (c *Cluster) must(t testing.TB, err error, verb, kind, namespace, name string) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s %s %s/%s in %s: %v", verb, kind, namespace, name, c.Name, err)
	}
}

func (c *Cluster) clientOf(t testing.TB, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	return c.client(t, o.GetAPIVersion(), o.GetKind(), o.GetNamespace())
}

// client returns the dynamic client of a kind. A kind not known yet is looked
// for again: a test may just have created its CRD.
func (c *Cluster) client(t testing.TB, apiVersion, kind, namespace string) dynamic.ResourceInterface {
	t.Helper()
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		t.Fatalf("find kind %s of %s in %s: %v", kind, apiVersion, c.Name, err)
	}
	if namespace == "" {
		return c.dynamic.Resource(mapping.Resource)
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(namespace)
}

// tree turns what a test gave into an object of its own.
func tree(t testing.TB, object Object) *unstructured.Unstructured {
	t.Helper()
	switch o := object.(type) {
	case *unstructured.Unstructured:
		return o.DeepCopy()
	case map[string]any:
		text, err := json.Marshal(o)
		return decode(t, text, err)
	case string:
		text, err := yaml.YAMLToJSON([]byte(o))
		return decode(t, text, err)
	}
	t.Fatalf("an object is a map[string]any, an *unstructured.Unstructured or YAML text, not %T", object)
	return nil
}

// decode reads JSON with integers kept exact, which is the form that
// unstructured objects need whatever number types a test wrote.
func decode(t testing.TB, text []byte, err error) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err == nil {
		err = runtime.DecodeInto(unstructured.UnstructuredJSONScheme, text, o)
	}
	if err != nil {
		t.Fatalf("read an object: %v\n%s", err, text)
	}
	return o
}

func callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callTimeout)
}
