package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The verbs, as access rules call them.
const (
	verbGet    = "get"
	verbList   = "list"
	verbWatch  = "watch"
	verbCreate = "create"
	verbUpdate = "update"
	verbPatch  = "patch"
	verbDelete = "delete"
	// verbDeleteMany has its own right, so that it is refused before it is
	// found to be missing.
	verbDeleteMany = "deletecollection"
)

// maxBody is what a real server takes at most.
const maxBody = 3 << 20

// call is a request that was understood: a verb on a resource.
type call struct {
	user      string
	verb      string
	kind      kind
	namespace string
	name      string
	sub       string
	query     url.Values
}

// answer is what a successful call is answered with.
type answer struct {
	code   int
	object runtime.Object
	gv     schema.GroupVersion
}

// parse reads what a request asks for out of its method and path, as
// NewRequestInfo in endpoints/request/requestinfo.go of k8s.io/apiserver does.
func (s *Server) parse(r *http.Request, user string) (call, error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var gv schema.GroupVersion
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return call{}, noSuchPath(r)
	}
	c := call{user: user, query: r.URL.Query()}
	if parts[0] == string(Namespaces) && len(parts) > 2 && parts[2] != subStatus {
		c.namespace, parts = parts[1], parts[2:]
	}
	k, ok := s.kinds[Resource(parts[0])]
	if !ok || k.gvk.GroupVersion() != gv || len(parts) > 3 || (c.namespace != "" && !k.namespaced) {
		return call{}, noSuchPath(r)
	}
	c.kind = k
	if len(parts) > 1 {
		c.name = parts[1]
	}
	if len(parts) > 2 {
		c.sub = parts[2]
	}
	if (c.sub != "" && (c.sub != subStatus || !k.status) && (c.sub != subScale || !k.scale)) ||
		(c.name != "" && k.namespaced && c.namespace == "") {
		return call{}, noSuchPath(r)
	}
	c.verb = verbOf(r, c.name)
	if c.verb == "" || (c.kind.resource == accessReviews && (c.verb != verbCreate || c.sub != "")) ||
		(c.sub != "" && c.verb == verbDelete) || (c.verb == verbCreate && k.namespaced && c.namespace == "") {
		return call{}, apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, strings.ToLower(r.Method),
			k.groupResource(), c.name, "", 0, true)
	}
	if name, ok := fieldName(c.query.Get("fieldSelector")); ok && c.name == "" && c.verb != verbCreate {
		// The right to one object covers a list of just that one.
		c.name = name
	}
	return c, nil
}

func verbOf(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if name != "" {
			return verbGet
		}
		if w := r.URL.Query().Get("watch"); w == "true" || w == "1" {
			return verbWatch
		}
		return verbList
	case http.MethodPost:
		if name == "" {
			return verbCreate
		}
	case http.MethodPut:
		if name != "" {
			return verbUpdate
		}
	case http.MethodPatch:
		if name != "" {
			return verbPatch
		}
	case http.MethodDelete:
		if name == "" {
			return verbDeleteMany
		}
		return verbDelete
	}
	return ""
}

func noSuchPath(r *http.Request) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, strings.ToLower(r.Method), schema.GroupResource{}, "",
		"404 page not found", 0, true)
}

// dispatch carries out every verb but watch.
func (s *Server) dispatch(r *http.Request, c call) (answer, error) {
	switch c.verb {
	case verbGet:
		return s.get(c)
	case verbList:
		return s.list(c)
	case verbCreate:
		if c.kind.resource == accessReviews {
			return s.review(r, c)
		}
		return s.create(r, c)
	case verbUpdate:
		return s.update(r, c)
	case verbPatch:
		return s.patch(r, c)
	case verbDelete:
		return s.delete(r, c)
	}
	return answer{}, apierrors.NewMethodNotSupported(c.kind.groupResource(), c.verb)
}

func (c call) key() Key { return Key{c.kind.resource, c.namespace, c.name} }

func (c call) notFound() error { return apierrors.NewNotFound(c.kind.groupResource(), c.name) }

// options are those of a write that come with the query.
type options struct {
	dryRun bool
	// strict: fields that are not known are an error.
	strict bool
}

func (c call) writeOptions(patch types.PatchType) (options, error) {
	var o metav1.PatchOptions
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&c.query, &o, nil); err != nil {
		return options{}, apierrors.NewBadRequest(err.Error())
	}
	name, errs := "PatchOptions", field.ErrorList(nil)
	switch c.verb {
	case verbCreate:
		name = "CreateOptions"
		errs = metavalidation.ValidateCreateOptions(&metav1.CreateOptions{
			DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
		})
	case verbUpdate:
		name = "UpdateOptions"
		errs = metavalidation.ValidateUpdateOptions(&metav1.UpdateOptions{
			DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation,
		})
	default:
		errs = metavalidation.ValidatePatchOptions(&o, patch)
	}
	if len(errs) > 0 {
		return options{}, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: name}, "", errs)
	}
	return options{dryRun: len(o.DryRun) > 0, strict: o.FieldValidation == metav1.FieldValidationStrict}, nil
}

// body reads what came with a request.
func body(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("couldn't read the request: %v", err))
	}
	if len(data) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return data, nil
}
