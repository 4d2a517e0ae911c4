package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// staleText is OptimisticLockErrorMsg in registry/generic/registry/store.go of
// k8s.io/apiserver.
const staleText = "the object has been modified; please apply your changes to the latest version and try again"

// read decodes the body as an object of the call's kind.
func (s *Server) read(r *http.Request, c call, o options) (Object, error) {
	data, err := body(r)
	if err != nil {
		return nil, err
	}
	into := c.kind.make()
	if err := s.codec.decode(r, data, c.kind.gvk, into, o.strict); err != nil {
		return nil, err
	}
	setDefaults(into)
	return into, nil
}

func (s *Server) create(r *http.Request, c call) (answer, error) {
	o, err := c.writeOptions("")
	if err != nil {
		return answer{}, err
	}
	made, err := s.read(r, c, o)
	if err != nil {
		return answer{}, err
	}
	if err := c.place(made); err != nil {
		return answer{}, err
	}
	sent := made.GetResourceVersion()
	return s.write(o.dryRun, func(state *State) (*State, answer, error) {
		next, err := createIn(state, c.kind, made)
		if !o.dryRun && carriesVersion(sent) && (err == nil || apierrors.IsAlreadyExists(err)) {
			return nil, answer{}, errVersionOnCreate
		}
		if err != nil {
			return nil, answer{}, err
		}
		stored, ok := next.Last()[0].After.DeepCopyObject().(Object)
		if !ok {
			return nil, answer{}, fmt.Errorf("create %s: not an object", c.kind.resource)
		}
		if o.dryRun {
			stored.SetResourceVersion(sent)
		}
		return next, answer{http.StatusCreated, stored, c.kind.gvk.GroupVersion()}, nil
	})
}

// errVersionOnCreate is what the storage says when everybody else has agreed,
// before it looks whether the name is taken: Create in storage/etcd3/store.go of
// k8s.io/apiserver. It has no status of its own. A dry run ends before that.
var errVersionOnCreate = errors.New("resourceVersion should not be set on objects to be created")

func carriesVersion(version string) bool {
	n, err := strconv.ParseUint(version, 10, 64)
	return err == nil && n != 0
}

// place puts an object where the path says, unless it says otherwise itself
// (EnsureObjectNamespaceMatchesRequestNamespace in registry/rest/meta.go).
func (c call) place(o Object) error {
	if !c.kind.namespaced {
		o.SetNamespace("")
		return nil
	}
	if o.GetNamespace() != "" && o.GetNamespace() != c.namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	o.SetNamespace(c.namespace)
	return nil
}

// createIn is Store.Create with its BeforeCreate and the admission before and
// after it.
func createIn(s *State, k kind, o Object) (*State, error) {
	o.SetUID("")
	o.SetResourceVersion("")
	o.SetManagedFields(nil)
	o.SetSelfLink("")
	generated := o.GetName() == "" && o.GetGenerateName() != ""
	if generated {
		o.SetName(generateName(o.GetGenerateName(), s.uids))
	}
	if err := admitCreate(s, k, o); err != nil {
		return nil, err
	}
	prepareCreate(o, s.now)
	if errs := validateCreate(o, k); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.gvk.GroupKind(), o.GetName(), errs)
	}
	if err := checkLimits(s, k, nil, o); err != nil {
		return nil, err
	}
	if err := checkQuota(s, k, nil, o); err != nil {
		return nil, err
	}
	next := s.Create(o)
	if next != s {
		return next, nil
	}
	taken := apierrors.NewAlreadyExists(k.groupResource(), o.GetName())
	if generated {
		taken = apierrors.NewGenerateNameConflict(k.groupResource(), o.GetName(), 1)
	}
	if before := s.Get(KeyOf(o)); before != nil && before.GetDeletionTimestamp() != nil {
		taken.ErrStatus.Message = "object is being deleted: " + taken.ErrStatus.Message
	}
	return nil, taken
}

// generateName makes up a name as SimpleNameGenerator in storage/names of
// k8s.io/apiserver does, but one that follows from what was created before.
func generateName(base string, issued int64) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	const suffix, longest = 5, 63
	base = base[:min(len(base), longest-suffix)]
	n := uint64(issued+1) * 0x9e3779b97f4a7c15
	n ^= n >> 29
	name := []byte(base)
	for range suffix {
		name = append(name, alphabet[n%uint64(len(alphabet))])
		n /= uint64(len(alphabet))
	}
	return string(name)
}

func (s *Server) update(r *http.Request, c call) (answer, error) {
	o, err := c.writeOptions("")
	if err != nil {
		return answer{}, err
	}
	if c.sub == subScale {
		return s.putScale(r, c, o)
	}
	wanted, err := s.read(r, c, o)
	if err != nil {
		return answer{}, err
	}
	if err := c.named(wanted); err != nil {
		return answer{}, err
	}
	return s.change(c, o.dryRun, func(before Object) (Object, error) {
		// Only a whole object's uid is a precondition; one in a patch is
		// validated with the rest of it.
		if uid := wanted.GetUID(); uid != "" && uid != before.GetUID() {
			return nil, c.wrongUID(uid, before.GetUID())
		}
		return wanted, nil
	})
}

// named checks that an object's name is the path's (checkName in
// endpoints/handlers/rest.go of k8s.io/apiserver).
func (c call) named(o Object) error {
	if o.GetName() != c.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", o.GetName(), c.name))
	}
	return c.place(o)
}

// wrongUID is the storage's answer to a precondition that does not hold.
func (c call) wrongUID(wanted, actual types.UID) error {
	return apierrors.NewConflict(c.kind.groupResource(), c.name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s",
		c.storageKey(), uidText(wanted, actual)))
}

// uidText is of Preconditions.Check in storage/interfaces.go.
func uidText(wanted, actual types.UID) string {
	return fmt.Sprintf("Precondition failed: UID in precondition: %v, UID in object meta: %v", wanted, actual)
}

func (c call) storageKey() string {
	key := "/registry/" + string(c.kind.resource)
	if c.namespace != "" {
		key += "/" + c.namespace
	}
	return key + "/" + c.name
}

// change carries out an update or a patch, which make says the result of.
func (s *Server) change(c call, dryRun bool, make func(before Object) (Object, error)) (answer, error) {
	return s.write(dryRun, func(state *State) (*State, answer, error) {
		before := state.Get(c.key())
		if before == nil {
			return nil, answer{}, c.notFound()
		}
		wanted, err := make(before)
		if err != nil {
			return nil, answer{}, err
		}
		next, stored, err := updateIn(state, c, before, wanted)
		if err != nil {
			return nil, answer{}, err
		}
		stored, ok := stored.DeepCopyObject().(Object)
		if !ok {
			return nil, answer{}, errors.New("update: not an object")
		}
		if dryRun {
			stored.SetResourceVersion(before.GetResourceVersion())
		}
		return next, c.ok(stored), nil
	})
}

// updateIn is Store.Update with its BeforeUpdate. The object it returns is the
// one that is stored then, or that went with its last finalizer.
func updateIn(s *State, c call, before, wanted Object) (*State, Object, error) {
	wanted.SetManagedFields(nil)
	switch version := wanted.GetResourceVersion(); {
	case (version == "" || version == "0") && c.unconditional():
	case version == "" || version == "0":
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{Group: c.kind.gvk.Group, Kind: string(c.kind.resource)}, c.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	case version != before.GetResourceVersion():
		if _, err := strconv.ParseUint(version, 10, 64); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.resourceVersion: Invalid value: %q: %v", version, err))
		}
		return nil, nil, apierrors.NewConflict(c.kind.groupResource(), c.name, errors.New(staleText))
	}
	wanted.SetResourceVersion(before.GetResourceVersion())
	prepareUpdate(before, wanted, c.sub, s.now)
	if errs := validateUpdate(before, wanted, c); len(errs) > 0 {
		return nil, nil, apierrors.NewInvalid(c.kind.gvk.GroupKind(), c.name, errs)
	}
	if c.sub == "" {
		if err := admitUpdate(s, c.kind, before, wanted); err != nil {
			return nil, nil, err
		}
	}
	next := s.Update(wanted)
	if stored := next.Get(c.key()); stored != nil {
		return next, stored, nil
	}
	return next, wanted, nil
}

// unconditional says whether an update may leave its resourceVersion out
// (AllowUnconditionalUpdate of the strategies in Kubernetes' pkg/registry).
func (c call) unconditional() bool {
	return c.kind.resource != Attachments && c.kind.resource != Drivers
}

func (s *Server) delete(r *http.Request, c call) (answer, error) {
	o, err := s.deleteOptions(r, c)
	if err != nil {
		return answer{}, err
	}
	return s.write(len(o.DryRun) > 0, func(state *State) (*State, answer, error) {
		before := state.Get(c.key())
		if before == nil {
			return nil, answer{}, c.notFound()
		}
		if err := admitDelete(c); err != nil {
			return nil, answer{}, err
		}
		if err := checkPreconditions(c, before, o.Preconditions); err != nil {
			return nil, answer{}, err
		}
		next := state.Delete(c.key(), o)
		stored := next.Get(c.key())
		if stored == nil {
			// What went may have been marked first.
			last, ok := next.Last()[0].Before.DeepCopyObject().(Object)
			if !ok {
				return nil, answer{}, errors.New("delete: not an object")
			}
			if len(o.DryRun) > 0 {
				last.SetResourceVersion(before.GetResourceVersion())
			}
			return next, c.deleted(last), nil
		}
		shown, ok := stored.DeepCopyObject().(Object)
		if !ok {
			return nil, answer{}, errors.New("delete: not an object")
		}
		if len(o.DryRun) > 0 {
			shown.SetResourceVersion(before.GetResourceVersion())
		}
		a := c.ok(shown)
		//nolint:staticcheck // clients may still send the deprecated field, and the server still obeys it
		if o.OrphanDependents != nil && !*o.OrphanDependents {
			a.code = http.StatusAccepted
		}
		return next, a, nil
	})
}

func (s *Server) deleteOptions(r *http.Request, c call) (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	data, err := body(r)
	if err != nil {
		return o, err
	}
	if len(data) > 0 {
		// Clients write them in the version of the group they talk to, or in v1.
		gvk := c.kind.gvk.GroupVersion().WithKind("DeleteOptions")
		if err := s.codec.decode(r, data, gvk, &o, false); err != nil {
			gvk.Group, gvk.Version = "", firstVersion
			if err := s.codec.decode(r, data, gvk, &o, false); err != nil {
				return o, err
			}
		}
	} else if err := metav1.Convert_url_Values_To_v1_DeleteOptions(&c.query, &o, nil); err != nil {
		return o, apierrors.NewBadRequest(err.Error())
	}
	if errs := metavalidation.ValidateDeleteOptions(&o); len(errs) > 0 {
		return o, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	return o, nil
}

// checkPreconditions is in BeforeDelete in registry/rest/delete.go, which names
// the kind where all others name the resource.
func checkPreconditions(c call, o Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	kind := schema.GroupResource{Group: c.kind.gvk.Group, Resource: c.kind.gvk.Kind}
	if p.UID != nil && *p.UID != o.GetUID() {
		return apierrors.NewConflict(kind, c.name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*p.UID, o.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
		return apierrors.NewConflict(kind, c.name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, o.GetResourceVersion()))
	}
	return nil
}

// deleted is the answer to a deletion that is done: the object, or for kinds
// whose storage does not have ReturnDeletedObject, a Status about it.
func (c call) deleted(o Object) answer {
	switch c.kind.resource {
	case Drivers, Classes, Attachments, Quotas, Volumes, Claims, Namespaces, Pods:
		return c.ok(o.DeepCopyObject())
	default:
		return answer{http.StatusOK, &metav1.Status{
			Status: metav1.StatusSuccess,
			Details: &metav1.StatusDetails{
				Name: o.GetName(), Group: c.kind.gvk.Group, Kind: string(c.kind.resource), UID: o.GetUID(),
			},
		}, corev1.SchemeGroupVersion}
	}
}
