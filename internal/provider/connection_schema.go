package provider

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	resourceschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// connectionAttribute is one string attribute of a connection; the framework has a type of its own for it in each kind of schema.
type connectionAttribute struct {
	name, description string
	sensitive         bool
}

var connectionAttributes = []connectionAttribute{
	{"config_path", "Path of a kubeconfig; a leading `~/` is the home directory. Excludes `host`.", false},
	{"config_context", "Context in the kubeconfig, exactly as written there. Default: its `current-context`. A context that is not there is an error that lists those that are.", false},
	{"host", "Address of the API server, `https://name:port`. Excludes `config_path`.", false},
	{"cluster_ca_certificate", "PEM text of the certificate authority that signed the API server's certificate. Default: the system's. Goes with `host`.", false},
	{"client_certificate", "PEM text of the client certificate to authenticate with; needs `client_key`. Goes with `host`.", false},
	{"client_key", "PEM text of the client certificate's key. Goes with `host`.", true},
	{"token", "Bearer token to authenticate with. Goes with `host`.", true},
	{"tls_server_name", "Name to expect in the API server's certificate. Default: the one in its address.", false},
	{"proxy_url", "Proxy to reach the API server through: `http://`, `https://` or `socks5://`. Default: none, or what the environment's `HTTPS_PROXY` and `NO_PROXY` say.", false},
}

const (
	insecureDescription = "Do not check the API server's certificate; excludes a certificate authority. Default `false`. For tests only: whoever is on the way can read the credentials."
	execDescription     = "Credential plugin to run, as in a kubeconfig. It is never given a terminal to prompt on. Goes with `host`."
	execVersion         = "`client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`, whichever the plugin speaks."
	execCommand         = "Program to run."
	execArgs            = "Its arguments."
	execEnv             = "Environment variables for it, besides those of Terraform."
)

func notEmpty() []validator.String {
	return []validator.String{stringvalidator.LengthAtLeast(1)}
}

// providerConnection returns the attributes of a connection in the provider block, with more beside them.
func providerConnection(more map[string]providerschema.Attribute) map[string]providerschema.Attribute {
	all := map[string]providerschema.Attribute{
		"insecure": providerschema.BoolAttribute{Optional: true, MarkdownDescription: insecureDescription},
		"exec": providerschema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: execDescription,
			Attributes: map[string]providerschema.Attribute{
				"api_version": providerschema.StringAttribute{Required: true, MarkdownDescription: execVersion},
				"command":     providerschema.StringAttribute{Required: true, MarkdownDescription: execCommand, Validators: notEmpty()},
				"args":        providerschema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: execArgs},
				"env":         providerschema.MapAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: execEnv},
			},
		},
	}
	for _, a := range connectionAttributes {
		all[a.name] = providerschema.StringAttribute{Optional: true, Sensitive: a.sensitive, MarkdownDescription: a.description, Validators: notEmpty()}
	}
	maps.Copy(all, more)
	return all
}

// resourceConnection returns the attributes of a connection in a resource; all are write-only, as the connection is as a whole.
func resourceConnection() map[string]resourceschema.Attribute {
	all := map[string]resourceschema.Attribute{
		"insecure": resourceschema.BoolAttribute{Optional: true, WriteOnly: true, MarkdownDescription: insecureDescription},
		"exec": resourceschema.SingleNestedAttribute{
			Optional:            true,
			WriteOnly:           true,
			MarkdownDescription: execDescription,
			Attributes: map[string]resourceschema.Attribute{
				"api_version": resourceschema.StringAttribute{Required: true, WriteOnly: true, MarkdownDescription: execVersion},
				"command":     resourceschema.StringAttribute{Required: true, WriteOnly: true, MarkdownDescription: execCommand, Validators: notEmpty()},
				"args":        resourceschema.ListAttribute{Optional: true, WriteOnly: true, ElementType: types.StringType, MarkdownDescription: execArgs},
				"env":         resourceschema.MapAttribute{Optional: true, WriteOnly: true, ElementType: types.StringType, MarkdownDescription: execEnv},
			},
		},
	}
	for _, a := range connectionAttributes {
		all[a.name] = resourceschema.StringAttribute{Optional: true, WriteOnly: true, Sensitive: a.sensitive, MarkdownDescription: a.description, Validators: notEmpty()}
	}
	return all
}
