package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

func TestTraits(t *testing.T) {
	block, filesystem, gold, none := corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem, "gold", ""
	now := metav1.Now()
	for what, tt := range map[string]struct {
		change func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim)
		volume Traits
		claim  Traits
	}{
		"nothing": {func(*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {}, 0, 0},
		"modes": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOnce}
			pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteOncePod, "ReadWriteSometimes"}
		}, TraitOnce | TraitMany, TraitReadMany | TraitOncePod | TraitOtherMode},
		"block": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.VolumeMode, pvc.Spec.VolumeMode = &block, &block
		}, TraitBlock, TraitBlock},
		"filesystem": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.VolumeMode, pvc.Spec.VolumeMode = &filesystem, &filesystem
		}, 0, 0},
		"attributes": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.VolumeAttributesClassName, pvc.Spec.VolumeAttributesClassName = &gold, &gold
		}, TraitAttributes, TraitAttributes},
		"no attributes": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.VolumeAttributesClassName, pvc.Spec.VolumeAttributesClassName = &none, &none
		}, 0, 0},
		"terminating": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.DeletionTimestamp, pvc.DeletionTimestamp = &now, &now
		}, TraitTerminating, TraitTerminating},
		"part of a byte": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1500m")}
			pvc.Spec.Resources.Requests = pv.Spec.Capacity
		}, TraitFraction, TraitFraction},
		"whole bytes": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2000m")}
			pvc.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1.5Gi")}
		}, 0, 0},
		"available": {func(pv *corev1.PersistentVolume, _ *corev1.PersistentVolumeClaim) {
			pv.Status.Phase = corev1.VolumeAvailable
		}, TraitAvailable, 0},
		"the other": {func(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pv.Spec.ClaimRef, pvc.Spec.VolumeName = &corev1.ObjectReference{}, "v"
		}, TraitReferred, TraitNames},
		"marked": {func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, volume.AnnBindCompleted, "")
		}, 0, TraitMarked},
		"selector": {func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.Selector = &metav1.LabelSelector{}
		}, 0, TraitSelects},
	} {
		pv, pvc := &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{}
		tt.change(pv, pvc)
		if got := VolumeTraits(pv); got != tt.volume {
			t.Errorf("%s: the volume has %b, want %b", what, got, tt.volume)
		}
		if got := ClaimTraits(pvc); got != tt.claim {
			t.Errorf("%s: the claim has %b, want %b", what, got, tt.claim)
		}
	}
	if got := (TraitOnce | TraitOncePod | TraitOtherMode | TraitBlock).Modes(); got != 2 {
		t.Errorf("got %d modes, want 2", got)
	}
}
