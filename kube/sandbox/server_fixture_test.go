package sandbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func clientFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serve is a server with the namespaces default and db, and a client of it.
func serve(t *testing.T, o ServerOptions, objects ...Object) (*Server, kubernetes.Interface) {
	t.Helper()
	s := NewState(start())
	for _, name := range []string{"default", "db"} {
		s = s.Create(&corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
			Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
		})
	}
	server := NewServer(s.Load(objects...), o)
	return server, clientFor(t, server.RESTConfig(""))
}

func aVolume(name string, change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	o := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h-" + name}},
		},
	}
	for _, f := range change {
		f(o)
	}
	return o
}

func aClaim(name string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	o := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "db"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	for _, f := range change {
		f(o)
	}
	return o
}

func aSet(name string, change ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	o := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas:             new(int32(2)),
			ServiceName:          name,
			Selector:             &metav1.LabelSelector{MatchLabels: labels},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*aClaim("data")},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "db", Image: "db:1", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
				}}},
			},
		},
	}
	o.Spec.VolumeClaimTemplates[0].Namespace = ""
	for _, f := range change {
		f(o)
	}
	return o
}

func aPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "db", Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			NodeName: "n1", TerminationGracePeriodSeconds: new(int64(30)), Containers: []corev1.Container{{Name: "c", Image: "i:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func aClass(name string, age time.Duration, annotation string) *storagev1.StorageClass {
	o := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start().Add(-age))},
		Provisioner: "csi.example.com",
	}
	if annotation != "" {
		o.Annotations = map[string]string{annotation: "true"}
	}
	return o
}
