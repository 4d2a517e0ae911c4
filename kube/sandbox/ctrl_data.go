package sandbox

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumeData is what storage systems hold. It is no resource of the API: it is
// kept in the State so that the loss of data can be seen, and told apart by the
// Hash. There is an object for each volume handle whose data exists.
const volumeData Resource = "volumedata"

// Handle is the name by which a storage system knows the volume, whatever the
// PersistentVolume is called; "" for kinds of volumes that nothing here deletes.
func Handle(pv *corev1.PersistentVolume) string {
	switch {
	case pv.Spec.CSI != nil:
		return pv.Spec.CSI.VolumeHandle
	case pv.Spec.HostPath != nil:
		return pv.Spec.HostPath.Path
	case pv.Spec.NFS != nil:
		return pv.Spec.NFS.Server + ":" + pv.Spec.NFS.Path
	case pv.Spec.Local != nil:
		return pv.Spec.Local.Path
	}
	return ""
}

// HasData says whether the data behind a volume handle exists.
func (s *State) HasData(handle string) bool {
	return s.Get(Key{volumeData, "", handle}) != nil
}

// WithData is the State with data behind a volume handle. Provisioners make it;
// for a volume that somebody described by hand it has to be put there.
func (s *State) WithData(handle string) *State {
	shelf := s.shelves[volumeData]
	i, ok := shelf.find("", handle)
	if handle == "" || ok {
		return s
	}
	data := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: handle}}
	return s.change(Change{Key: Key{volumeData, "", handle}, After: data}, shelf.inserted(i, data))
}

// withoutData is the State after the data behind a volume handle was destroyed.
func (s *State) withoutData(handle string) *State {
	return s.Remove(Key{volumeData, "", handle})
}
