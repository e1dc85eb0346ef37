package federation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// versionFormat tags what a version is computed from. A change of the computation needs a new tag: every version in every state changes.
const versionFormat = "v1"

// Version gives the hash of what shall be on a member: "v1:" and 32 hexadecimal digits, the first half of the SHA-256 over the format
// tag and the canonical JSON of the object without the provider's marks. Data of Secrets and the values at the sensitive pointers
// enter as HMAC-SHA-256 with the key, so that they cannot be found by guessing. It is empty, which means unknown, when there is
// something sensitive and no key, or when the tree is no JSON.
func Version(tree map[string]any, sensitive []string, key []byte) string {
	tree = withoutMarks(tree)
	if len(key) == 0 && HasSensitive(tree, sensitive) {
		return ""
	}
	canonical, err := Canonical(sealed(tree, sensitivePaths(tree, sensitive), key))
	if err != nil {
		return ""
	}
	hash := sha256.New()
	hash.Write([]byte("kubefed version " + versionFormat + "\n"))
	hash.Write(canonical)
	return versionFormat + ":" + hex.EncodeToString(hash.Sum(nil)[:16])
}

// withoutMarks returns the tree without the provider's own labels and annotations; it shares everything else with the tree.
func withoutMarks(tree map[string]any) map[string]any {
	if len(ownMarks(tree)) == 0 {
		return tree
	}
	metadata, _ := tree["metadata"].(map[string]any)
	metadata = shallowCopy(metadata)
	for _, attribute := range metadataMaps {
		values, ok := metadata[attribute].(map[string]any)
		if !ok {
			continue
		}
		kept := make(map[string]any, len(values))
		for key, value := range values {
			if !strings.HasPrefix(key, MarkPrefix) {
				kept[key] = value
			}
		}
		metadata[attribute] = kept
		if len(kept) == 0 && len(values) > 0 {
			delete(metadata, attribute)
		}
	}
	out := shallowCopy(tree)
	out["metadata"] = metadata
	return out
}

func shallowCopy(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		out[key] = value
	}
	return out
}

// sealed returns the tree with a keyed hash in the place of everything sensitive; it shares the rest with the tree. A seal is a
// value that no JSON tree has, so that no plain value can pass for one.
func sealed(node any, s sensitivity, key []byte) any {
	if _, isMap := node.(map[string]any); s.whole || s.each && !isMap {
		canonical, err := Canonical(node)
		if err != nil {
			return node
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(canonical)
		return seal(mac.Sum(nil))
	}
	switch n := node.(type) {
	case map[string]any:
		out := shallowCopy(n)
		if s.each {
			for token, value := range n {
				if value != nil {
					out[token] = sealed(value, s.at(token), key)
				}
			}
			return out
		}
		for token, below := range s.children {
			if value, there := n[token]; there && value != nil {
				out[token] = sealed(value, below, key)
			}
		}
		return out
	case []any:
		out := append([]any(nil), n...)
		for token, below := range s.children {
			if index, err := listIndex(token); err == nil && index < len(n) {
				out[index] = sealed(n[index], below, key)
			}
		}
		return out
	}
	return node
}

// seal is the keyed hash of a value.
type seal []byte

// appendSeal writes a seal. A zero byte is not in any canonical JSON.
func appendSeal(b []byte, s seal) []byte {
	return hex.AppendEncode(append(b, "\x00hmac:"...), s)
}
