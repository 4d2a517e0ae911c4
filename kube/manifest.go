package kube

import (
	"context"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions"
)

// diffContext is the number of unchanged lines around a change: enough to see
// which part of the object it is in.
const diffContext = 3

// lastApplied repeats the whole object in one line.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Manifest reads a PersistentVolume, PersistentVolumeClaim or StorageClass
// afresh and writes it as YAML, without managedFields.
func (c *Client) Manifest(ctx context.Context, ref actions.Ref) (string, error) {
	object, err := c.Object(ctx, ref)
	if err != nil {
		return "", err
	}
	object.SetManagedFields(nil)
	return manifest(object)
}

// Object reads a PersistentVolume, PersistentVolumeClaim or StorageClass afresh,
// with all that the server keeps of it; those of a snapshot are trimmed. It goes
// by the name.
func (c *Client) Object(ctx context.Context, ref actions.Ref) (metav1.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	var object metav1.Object
	var err error
	switch ref.Kind {
	case actions.VolumeKind:
		object, err = c.api.CoreV1().PersistentVolumes().Get(ctx, ref.Name, metav1.GetOptions{})
	case actions.ClaimKind:
		object, err = c.api.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	case actions.ClassKind:
		object, err = c.api.StorageV1().StorageClasses().Get(ctx, ref.Name, metav1.GetOptions{})
	default:
		return nil, fmt.Errorf("read %s %s: the kind is not known here", ref.Kind, ref.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", ref.Kind, objectKey(ref.Namespace, ref.Name), err)
	}
	return object, nil
}

// manifest writes an object as YAML, in which control characters are escaped
// as the format demands.
func manifest(object metav1.Object) (string, error) {
	// A typed client leaves out what the type already says.
	switch o := object.(type) {
	case *corev1.PersistentVolume:
		o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(actions.VolumeKind)))
	case *corev1.PersistentVolumeClaim:
		o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(string(actions.ClaimKind)))
	case *storagev1.StorageClass:
		o.SetGroupVersionKind(storagev1.SchemeGroupVersion.WithKind(string(actions.ClassKind)))
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("write %s as YAML: %w", object.GetName(), err)
	}
	return string(text), nil
}

// diff compares two versions of a volume as a person would: without the
// fields in which the server keeps its books.
func diff(before, after *corev1.PersistentVolume) (string, error) {
	old, err := manifest(withoutBooks(before))
	if err != nil {
		return "", err
	}
	updated, err := manifest(withoutBooks(after))
	if err != nil {
		return "", err
	}
	return unified(old, updated)
}

// unified is the difference of two texts, with a few lines around each change.
func unified(old, updated string) (string, error) {
	text, err := udiff.ToUnified("now", "then", old, udiff.Lines(old, updated), diffContext)
	if err != nil {
		return "", fmt.Errorf("compare the versions: %w", err)
	}
	return text, nil
}

func withoutBooks(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	pv = pv.DeepCopy()
	pv.ManagedFields = nil
	pv.ResourceVersion = ""
	pv.Generation = 0
	delete(pv.Annotations, lastApplied)
	return pv
}
