package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// providerModel is the provider block.
type providerModel struct {
	Owner          types.String `tfsdk:"owner"`
	HostCluster    types.Object `tfsdk:"host_cluster"`
	Namespace      types.String `tfsdk:"namespace"`
	MemberClusters types.Map    `tfsdk:"member_clusters"`
	ConfigPath     types.String `tfsdk:"config_path"`
	FieldManager   types.String `tfsdk:"field_manager"`
	Impersonate    types.Object `tfsdk:"impersonate"`
	Policy         types.Object `tfsdk:"policy"`
	HealthCheck    types.Object `tfsdk:"health_check"`
	Client         types.Object `tfsdk:"client"`
}

// memberModel is one element of member_clusters.
type memberModel struct {
	connectionModel
	Labels       types.Map    `tfsdk:"labels"`
	Region       types.String `tfsdk:"region"`
	Zones        types.Set    `tfsdk:"zones"`
	Availability types.String `tfsdk:"availability"`
}

type impersonateModel struct {
	User   types.String `tfsdk:"user"`
	Groups types.List   `tfsdk:"groups"`
}

type healthCheckModel struct {
	Attempts types.Number `tfsdk:"attempts"`
	Timeout  types.String `tfsdk:"timeout"`
	Interval types.String `tfsdk:"interval"`
}

type clientModel struct {
	MaxParallelMembers types.Number `tfsdk:"max_parallel_members"`
	QPS                types.Number `tfsdk:"qps"`
	RequestTimeout     types.String `tfsdk:"request_timeout"`
}

// The defaults of the provider block.
const (
	defaultNamespace      = "kube-federation-system"
	defaultFieldManager   = "terraform-kubefed"
	defaultMaxParallel    = 16
	defaultAttempts       = 3
	defaultHealthTimeout  = 3 * time.Second
	defaultHealthInterval = time.Second
	defaultRequestTimeout = 30 * time.Second
)

// objectAsOptions reads an object that may hold nulls and unknowns.
var objectAsOptions = basetypes.ObjectAsOptions{}

// clientOptions translates what the provider block says about speaking to clusters. Values that are not known yet count as not set: nothing
// is written with them.
func (m providerModel) clientOptions(ctx context.Context, version string) (options member.Options, maxParallel int, diags diag.Diagnostics) {
	var (
		health      healthCheckModel
		client      clientModel
		impersonate impersonateModel
	)
	diags.Append(asObject(ctx, m.HealthCheck, &health)...)
	diags.Append(asObject(ctx, m.Client, &client)...)
	diags.Append(asObject(ctx, m.Impersonate, &impersonate)...)
	options = member.Options{
		FieldManager: stringOr(m.FieldManager, defaultFieldManager),
		UserAgent:    "terraform-provider-kubefed/" + version,
		Health:       member.HealthCheck{Attempts: int(int64Of(health.Attempts, defaultAttempts))},
	}
	if !client.QPS.IsNull() && !client.QPS.IsUnknown() {
		options.QPS, _ = client.QPS.ValueBigFloat().Float32()
	}
	options.Health.Timeout = durationOr(health.Timeout, defaultHealthTimeout, path.Root("health_check").AtName("timeout"), &diags)
	options.Health.Interval = durationOr(health.Interval, defaultHealthInterval, path.Root("health_check").AtName("interval"), &diags)
	options.RequestTimeout = durationOr(client.RequestTimeout, defaultRequestTimeout, path.Root("client").AtName("request_timeout"), &diags)
	options.Impersonate.UserName = impersonate.User.ValueString()
	if len(impersonate.Groups.Elements()) > 0 {
		diags.Append(impersonate.Groups.ElementsAs(ctx, &options.Impersonate.Groups, false)...)
	}
	return options, int(int64Of(client.MaxParallelMembers, defaultMaxParallel)), diags
}

// asObject reads an object into a model; a null or unknown one leaves it as it is.
func asObject(ctx context.Context, object types.Object, into any) diag.Diagnostics {
	if object.IsNull() || object.IsUnknown() {
		return nil
	}
	return object.As(ctx, into, objectAsOptions)
}

func stringOr(value types.String, fallback string) string {
	if value.IsNull() || value.IsUnknown() {
		return fallback
	}
	return value.ValueString()
}

func durationOr(value types.String, fallback time.Duration, at path.Path, diags *diag.Diagnostics) time.Duration {
	if value.IsNull() || value.IsUnknown() {
		return fallback
	}
	d, err := parseDuration(value.ValueString())
	if err != nil {
		diags.AddAttributeError(at, "Invalid duration", fmt.Sprintf("`%s`: %v.", at, err))
		return fallback
	}
	return d
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration above zero. Write it as a number with a unit: 500ms, 3s, 10m", text)
	}
	return d, nil
}

// positiveDuration validates a duration such as "3s".
type positiveDuration struct{}

func (positiveDuration) Description(context.Context) string {
	return "a duration above zero such as 500ms, 3s or 10m"
}
func (v positiveDuration) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (positiveDuration) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, err := parseDuration(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid duration", fmt.Sprintf("`%s`: %v.", req.Path, err))
	}
}
