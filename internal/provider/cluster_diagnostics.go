package provider

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
	"github.com/kubefed/terraform-provider-kubefed/internal/registry"
)

var connectionPath = path.Root("cluster_connection")

// joinDiagnostic says why a cluster was not joined or changed, and what to do.
func joinDiagnostic(verb, name string, err error) diag.Diagnostic {
	var (
		connection   *member.ConnectionError
		registration *registry.RegistrationError
		foreign      *registry.ForeignError
		already      *registry.AlreadyJoinedError
		twice        *registry.DeclaredTwiceError
		namespace    *member.NamespaceMissingError
		down         *member.UnreachableError
	)
	title := fmt.Sprintf("Unable to %s cluster %q", verb, name)
	switch {
	case errors.As(err, &registration):
		return registrationDiagnostic(title, registration)
	case errors.As(err, &connection):
		return connectionDiagnostic(connectionPath, fmt.Sprintf("cluster %q", name), err)
	case errors.As(err, &foreign):
		return diag.NewAttributeErrorDiagnostic(path.Root("name"), title, fmt.Sprintf("%v. It is not taken over: choose another name, or import the cluster (`terraform import kubefed_cluster.… %s`).", err, name))
	case errors.As(err, &already):
		return diag.NewAttributeErrorDiagnostic(path.Root("name"), title, fmt.Sprintf("%v. A cluster has one name in a federation: unjoin %q first, or import that.", err, already.Other))
	case errors.As(err, &twice):
		return diag.NewAttributeErrorDiagnostic(path.Root("name"), title, fmt.Sprintf("%v. Two resources of this configuration have the same name.", err))
	case errors.As(err, &namespace):
		return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. The namespaces of `scope` have to exist; the registry's own on the host comes from kubefed_control_plane: let this resource depend on that.", err))
	case errors.As(err, &down) && down.Class == member.ClassIdentity:
		return diag.NewAttributeErrorDiagnostic(connectionPath, title, fmt.Sprintf("%v. Nothing was written to it. If the cluster was replaced by another, unjoin it (`on_destroy = { unreachable = \"forget\" }`) and join the new one.", err))
	}
	return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. What was made so far is completed by the next apply.", err))
}

func registrationDiagnostic(title string, err *registry.RegistrationError) diag.Diagnostic {
	switch err.Attribute {
	case "":
		return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. The members' connections go to `api_endpoint` (default: where `cluster_connection` leads), through `proxy_url`. It was not registered; what was made "+
			"on the member is completed by the next apply.", err))
	case "cluster_ca_certificate":
		return diag.NewAttributeErrorDiagnostic(connectionPath.AtName(err.Attribute), title, err.Error())
	}
	return diag.NewAttributeErrorDiagnostic(path.Root(err.Attribute), title, err.Error())
}

// unjoinDiagnostic says why a cluster was not unjoined, and what to do.
func unjoinDiagnostic(name string, err error) diag.Diagnostic {
	var (
		leftovers *registry.LeftoversError
		foreign   *registry.ForeignError
		down      *member.UnreachableError
	)
	title := fmt.Sprintf("Unable to unjoin cluster %q", name)
	switch {
	case errors.As(err, &leftovers):
		return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. Nothing was changed.\n\n"+
			"Take it out of the placements and apply before it is unjoined. In one run that needs `lifecycle { create_before_destroy = true }` on the kubefed_cluster, applied beforehand, and placements that refer to it. "+
			"With selectors it takes two: `availability = \"draining\"` and an apply of every configuration first. "+
			"Or apply `on_destroy = { objects = \"orphan\" }` (they stay there) or `\"delete\"` before.", err))
	case errors.As(err, &foreign):
		return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. If the provider's `owner` has changed since the cluster was joined, change something of the kubefed_cluster, such as an annotation, and apply: "+
			"that gives it the new owner. Or set the former owner for the destroy.", err))
	case errors.As(err, &down):
		return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. If it will never answer again, apply `on_destroy = { unreachable = \"forget\" }` first.", err))
	}
	return diag.NewErrorDiagnostic(title, fmt.Sprintf("%v. What is left is taken away by the next destroy.", err))
}

// leftDiagnostics warns of what an unjoin has left behind.
func leftDiagnostics(name string, left *registry.Unjoined) (diags diag.Diagnostics) {
	if left.Forgotten != nil {
		diags.AddWarning("Cluster forgotten", fmt.Sprintf("%v. Cluster %q was unregistered without asking it: the federation's account and namespace, and what was federated to it, are still there.", left.Forgotten, name))
	}
	if len(left.Objects) > 0 {
		diags.AddWarning("Objects left behind", fmt.Sprintf("On cluster %q stay: %s.", name, left.Names()))
	}
	return diags
}

// unseenDiagnostic warns of a member that could not be looked at; one that is set offline is not looked at on purpose.
func unseenDiagnostic(found *registry.Registration) (diags diag.Diagnostics) {
	var down *member.UnreachableError
	if found.Unknown == nil || (errors.As(found.Unknown, &down) && down.Class == member.ClassOffline) {
		return nil
	}
	diags.AddWarning("Member not readable", fmt.Sprintf("What the join has made on cluster %q was not looked at: %v.", found.Name, found.Unknown))
	return diags
}
