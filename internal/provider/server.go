package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns what serves the provider by version 6 of Terraform's plugin protocol, to Terraform and OpenTofu alike. Each call of it is a
// server that knows of no other.
func NewServer(version string) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer { return server{providerserver.NewProtocol6(New(version)())()} }
}

// server is the framework's, and understands OpenTofu too.
type server struct{ tfprotov6.ProviderServer }

// msgpackNil is null in msgpack, whatever the type.
const msgpackNil = 0xc0

// CallFunction reads an argument that is not encoded at all as null: so OpenTofu sends null where a parameter allows it.
func (s server) CallFunction(ctx context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	for i, argument := range req.Arguments {
		if argument == nil || len(argument.MsgPack)+len(argument.JSON) == 0 {
			req.Arguments[i] = &tfprotov6.DynamicValue{MsgPack: []byte{msgpackNil}}
		}
	}
	return s.ProviderServer.CallFunction(ctx, req)
}
