package registry

import (
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// jwtPayload is the second of the three parts of a JSON Web Token (RFC 7519).
func jwtPayload(token string) ([]byte, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return payload, err == nil
}

// splitSubject reads the subject of a service account's token: system:serviceaccount:<namespace>:<name>.
func splitSubject(subject string) types.NamespacedName {
	rest, ok := strings.CutPrefix(subject, "system:serviceaccount:")
	namespace, name, found := strings.Cut(rest, ":")
	if !ok || !found {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}
