package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordSurvivesPrivateState(t *testing.T) {
	t.Parallel()
	record, err := NewRecord()
	if err != nil {
		t.Fatal(err)
	}
	record.Copies["eu"] = &Copy{UID: "u1", Stamp: "g3", Fields: "f", Version: "v1:a", Used: []int{0, 2}, Drift: true}
	record.Copies["us"] = &Copy{UID: "u2", Stamp: "r7", Fields: "f", Version: "v1:b", Foreign: true, From: "x", Recovered: true}
	record.Unasked = []string{"asia"}
	if err := record.keep(map[string]map[string]any{"us": {"kind": "ConfigMap", "data": map[string]any{"n": int64(9007199254740993)}}}); err != nil {
		t.Fatal(err)
	}
	data, err := record.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ParseRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(record, read); diff != "" {
		t.Error(diff)
	}
	former, err := read.former("us", nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"kind": "ConfigMap", "data": map[string]any{"n": int64(9007199254740993)}}, former); diff != "" {
		t.Error(diff)
	}
}

func TestRecordThatIsDamagedIsAnError(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"no JSON":         `{`,
		"index too large": `{"id":"x","copies":{"eu":{"uid":"u","f":0,"v":3}},"texts":["a"]}`,
		"negative index":  `{"id":"x","copies":{"eu":{"uid":"u","f":-1,"v":0}},"texts":["a"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseRecord([]byte(data)); err == nil {
				t.Error("no error")
			}
		})
	}
}
