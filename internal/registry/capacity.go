package registry

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubefed/terraform-provider-kubefed/internal/member"
)

// Capacity is an amount of what pods ask for, as Kubernetes writes quantities.
type Capacity struct {
	CPU    string // cores: "4", "1500m"
	Memory string // bytes: "32Gi"
	Pods   int64
}

// amounts are quantities to calculate with.
type amounts struct {
	cpu, memory resource.Quantity
	pods        int64
}

func (a *amounts) add(list corev1.ResourceList) {
	a.cpu.Add(*list.Cpu())
	a.memory.Add(*list.Memory())
}

func (a *amounts) sub(list corev1.ResourceList) {
	a.cpu.Sub(*list.Cpu())
	a.memory.Sub(*list.Memory())
}

func (a *amounts) capacity() *Capacity {
	return &Capacity{CPU: a.cpu.String(), Memory: a.memory.String(), Pods: a.pods}
}

// running leaves out pods that have ended: they hold nothing.
const running = "status.phase!=Succeeded,status.phase!=Failed"

// capacity sums up what the nodes that take pods offer, and what of it no pod has asked for. Both are nil for an account that may not see nodes or
// pods.
func capacity(ctx context.Context, m *member.Member) (allocatable, free *Capacity, err error) {
	nodes, err := m.ListObjects(ctx, nodeKind, "", metav1.ListOptions{})
	if err != nil {
		return nil, nil, orForbidden(err)
	}
	pods, err := m.ListObjects(ctx, podKind, "", metav1.ListOptions{FieldSelector: running})
	if err != nil {
		return nil, nil, orForbidden(err)
	}
	var offered, rest amounts
	taking := map[string]bool{}
	for i := range nodes {
		var node corev1.Node
		if err := convert(&nodes[i], &node); err != nil {
			return nil, nil, err
		}
		if !takesPods(&node) {
			continue
		}
		taking[node.Name] = true
		offered.add(node.Status.Allocatable)
		offered.pods += node.Status.Allocatable.Pods().Value()
	}
	rest = amounts{cpu: offered.cpu.DeepCopy(), memory: offered.memory.DeepCopy(), pods: offered.pods}
	for i := range pods {
		var pod corev1.Pod
		if err := convert(&pods[i], &pod); err != nil {
			return nil, nil, err
		}
		if taking[pod.Spec.NodeName] {
			rest.sub(podRequests(&pod))
			rest.pods--
		}
	}
	return offered.capacity(), rest.capacity(), nil
}

func convert(from *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into); err != nil {
		return fmt.Errorf("read %s %s: %w", from.GetKind(), from.GetName(), err)
	}
	return nil
}

// takesPods reports whether the scheduler would put a pod on a node: it is ready and not cordoned.
func takesPods(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podRequests is what the scheduler counts for a pod: the containers and sidecars together or, if that is more, one init container with the
// sidecars started before it; and the overhead. What the pod as a whole asks for outranks the sum.
// Source: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
func podRequests(pod *corev1.Pod) corev1.ResourceList {
	total, sidecars, peak := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		plus(total, pod.Spec.Containers[i].Resources.Requests)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			plus(sidecars, c.Resources.Requests)
			continue
		}
		alone := sidecars.DeepCopy()
		plus(alone, c.Resources.Requests)
		atLeast(peak, alone)
	}
	plus(total, sidecars)
	atLeast(total, peak)
	if pod.Spec.Resources != nil {
		for name, quantity := range pod.Spec.Resources.Requests {
			total[name] = quantity
		}
	}
	plus(total, pod.Spec.Overhead)
	return total
}

func plus(to, more corev1.ResourceList) {
	for name, quantity := range more {
		sum := to[name].DeepCopy()
		sum.Add(quantity)
		to[name] = sum
	}
}

func atLeast(to, floor corev1.ResourceList) {
	for name, quantity := range floor {
		if have := to[name]; have.Cmp(quantity) < 0 {
			to[name] = quantity.DeepCopy()
		}
	}
}
