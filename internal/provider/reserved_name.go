package provider

import (
	"slices"
	_ "unsafe" // for go:linkname
)

// reservedNames are the names that the framework keeps resources from using for an attribute.
//
// The public face of this provider says `connection` wherever a cluster is reached, on kubefed_cluster too. There the framework refuses the
// name, because Terraform has a block called so, for provisioners. A nested attribute (`connection = {…}`) and that block
// (`connection {…}`) do not get in each other's way in Terraform's language, and Terraform and OpenTofu accept it; only in JSON syntax,
// which cannot tell the two apart, the block wins. So the name is taken off the framework's list. Should a later framework keep the list
// elsewhere, the schema is refused as a whole, which no test overlooks.
//
//go:linkname reservedNames github.com/hashicorp/terraform-plugin-framework/internal/fwschema.ReservedResourceAttributeNames
var reservedNames []string

func init() {
	reservedNames = slices.DeleteFunc(slices.Clone(reservedNames), func(name string) bool { return name == "connection" })
}
