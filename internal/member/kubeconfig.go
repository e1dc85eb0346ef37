package member

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs name these credential providers
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Connector turns connections into configurations for client-go and reads each kubeconfig once. The zero value is ready, and it is safe for
// concurrent use.
type Connector struct {
	// DefaultConfigPath is the kubeconfig of every connection that gives a context and no kubeconfig.
	DefaultConfigPath string

	mu    sync.Mutex
	files map[string]*clientcmdapi.Config
}

// Complete fills in what the connection leaves to the default: the kubeconfig for a connection that gives only a context.
func (k *Connector) Complete(c Connection) Connection {
	if c.ConfigPath == "" && c.Host == "" && c.ConfigContext != "" {
		c.ConfigPath = k.DefaultConfigPath
	}
	return c
}

// RESTConfig is Connection.RESTConfig with the connector's default. Its error is a *ConnectionError.
func (k *Connector) RESTConfig(c Connection) (*rest.Config, error) {
	made, err := k.restConfig(k.Complete(c))
	var wrong *ConnectionError
	if errors.As(err, &wrong) {
		wrong.Default = wrong.Attribute == "config_path" && c.ConfigPath == ""
	}
	return made, err
}

func (k *Connector) restConfig(c Connection) (*rest.Config, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	translate := c.explicit
	if c.ConfigPath != "" {
		translate = func() (*rest.Config, error) { return k.fromKubeconfig(c) }
	}
	made, err := translate()
	if err != nil {
		return nil, err
	}
	if err := c.overlay(made); err != nil {
		return nil, err
	}
	if err := rest.LoadTLSFiles(made); err != nil {
		return nil, &ConnectionError{Attribute: "config_path", Summary: "Unusable kubeconfig", Detail: fmt.Sprintf("A file it names cannot be read: %v.", err), Err: err}
	}
	made.WarningHandler = rest.NoWarnings{} // warnings are read off the answers; client-go would print them
	return made, nil
}

func (k *Connector) fromKubeconfig(c Connection) (*rest.Config, error) {
	file, err := k.load(c.ConfigPath)
	if err != nil {
		return nil, err
	}
	name := c.ConfigContext
	if name == "" {
		name = file.CurrentContext
	}
	context, ok := file.Contexts[name]
	if !ok {
		return nil, absentContext(c, name, file)
	}
	if _, ok := file.Clusters[context.Cluster]; !ok {
		return nil, &ConnectionError{Attribute: "config_path", Summary: "Unusable kubeconfig",
			Detail: fmt.Sprintf("Context %q of %s names the cluster %q, which is not there.", name, c.ConfigPath, context.Cluster)}
	}
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*file, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, &ConnectionError{Attribute: "config_path", Summary: "Unusable kubeconfig",
			Detail: fmt.Sprintf("Context %q of %s cannot be used: %v.", name, c.ConfigPath, err), Err: err}
	}
	if cfg.ExecProvider != nil {
		cfg.ExecProvider = neverPrompt(cfg.ExecProvider.DeepCopy())
	}
	return cfg, nil
}

func absentContext(c Connection, name string, file *clientcmdapi.Config) error {
	names := make([]string, 0, len(file.Contexts))
	for n := range file.Contexts {
		names = append(names, fmt.Sprintf("%q", n))
	}
	sort.Strings(names)
	there := "it has no context at all"
	if len(names) > 0 {
		there = "its contexts are " + strings.Join(names, ", ")
	}
	if c.ConfigContext == "" {
		return &ConnectionError{Attribute: "config_path", Summary: "No context chosen",
			Detail: fmt.Sprintf("%s has no usable current-context (%q) and `config_context` is not set; %s.", c.ConfigPath, name, there)}
	}
	return &ConnectionError{Attribute: "config_context", Summary: "Context not found",
		Detail: fmt.Sprintf("There is no context %q in %s; %s.", name, c.ConfigPath, there)}
}

// load reads a kubeconfig, once.
func (k *Connector) load(path string) (*clientcmdapi.Config, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if file, ok := k.files[path]; ok {
		return file, nil
	}
	full, err := expandHome(path)
	if err != nil {
		return nil, &ConnectionError{Attribute: "config_path", Summary: "Unreadable kubeconfig", Detail: err.Error() + ".", Err: err}
	}
	file, err := clientcmd.LoadFromFile(full)
	if err != nil {
		return nil, unreadableKubeconfig(path, err)
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, &ConnectionError{Attribute: "config_path", Summary: "Unusable kubeconfig", Detail: err.Error() + ".", Err: err}
	}
	if k.files == nil {
		k.files = map[string]*clientcmdapi.Config{}
	}
	k.files[path] = file
	return file, nil
}

// unreadableKubeconfig does not repeat what a parser says: it may quote a token.
func unreadableKubeconfig(path string, err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return &ConnectionError{Attribute: "config_path", Summary: "Unreadable kubeconfig", Detail: fmt.Sprintf("%s cannot be read: %v.", path, file.Err), Err: err}
	}
	return &ConnectionError{Attribute: "config_path", Summary: "Invalid kubeconfig",
		Detail: fmt.Sprintf("%s is not a kubeconfig (YAML of kind Config); see what `kubectl config view --kubeconfig` says of it.", path)}
}

func expandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%s: the home directory is not known: %w", path, err)
	}
	return filepath.Join(home, rest), nil
}
