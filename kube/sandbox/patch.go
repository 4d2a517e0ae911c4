package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// patchTypes are the ones that are taken. Server-side apply would need the
// ownership of fields, which is not modelled.
func patchTypes() []string {
	return []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType)}
}

// patch is PatchResource in endpoints/handlers/patch.go of k8s.io/apiserver.
func (s *Server) patch(r *http.Request, c call) (answer, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	kind := types.PatchType(media)
	switch kind {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType:
	default:
		err = errors.Join(err, errors.New("not a patch"))
	}
	if err != nil {
		return answer{}, unsupportedMedia("the body of the request was in an unknown format - accepted media types include: " +
			strings.Join(patchTypes(), ", "))
	}
	data, err := body(r)
	if err != nil {
		return answer{}, err
	}
	o, err := c.writeOptions(kind)
	if err != nil {
		return answer{}, err
	}
	// Before anything is looked up (validateAndTranscodePatch).
	if !json.Valid(data) {
		return answer{}, apierrors.NewBadRequest("invalid JSON patch")
	}
	p := patcher{kind: kind, data: data, strict: o.strict, codec: s.codec}
	if c.sub == subScale {
		return s.patchScale(c, o, p)
	}
	return s.change(c, o.dryRun, func(before Object) (Object, error) {
		patched := c.kind.make()
		if err := p.apply(before, patched, c.kind.gvk); err != nil {
			return nil, err
		}
		setDefaults(patched)
		return patched, c.named(patched)
	})
}

// patcher is a patch that came.
type patcher struct {
	kind   types.PatchType
	data   []byte
	strict bool
	codec  codec
}

// apply makes the patched object out of the current one.
func (p patcher) apply(current, patched runtime.Object, gvk schema.GroupVersionKind) error {
	strange, err := p.wellFormed()
	if err != nil {
		return err
	}
	before, err := p.codec.bytes(p.codec.json, current, gvk.GroupVersion())
	if err != nil {
		return err
	}
	after, err := p.bytes(before, patched)
	if err != nil {
		return err
	}
	_, _, err = p.codec.json.StrictSerializer.Decode(after, &gvk, patched)
	if unknown, ok := runtime.AsStrictDecodingError(err); ok {
		strange, err = append(strange, unknown.Errors()...), nil
	}
	// Without strictness, fields that are not known are dropped without a word.
	if err == nil && p.strict && len(strange) > 0 {
		err = runtime.NewStrictDecodingError(strange)
	}
	if err != nil {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), string(after), err.Error()),
		})
	}
	return nil
}

// wellFormed parses the patch; it returns what only a strict reader minds, such
// as a field that is there twice.
func (p patcher) wellFormed() ([]error, error) {
	var into any = &map[string]any{}
	if p.kind == types.JSONPatchType {
		into = &[]struct {
			Op    string `json:"op"`
			Path  string `json:"path"`
			From  string `json:"from"`
			Value any    `json:"value"`
		}{}
	}
	strange, err := kjson.UnmarshalStrict(p.data, into)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return strange, nil
}

func (p patcher) bytes(before []byte, schemaOf runtime.Object) ([]byte, error) {
	switch p.kind {
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(p.data)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after, err := patch.Apply(before)
		if err != nil {
			// That a test failed is not told apart from other trouble.
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return after, nil
	case types.MergePatchType:
		after, err := jsonpatch.MergePatch(before, p.data)
		if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return after, err
	default:
		return strategic(before, p.data, schemaOf)
	}
}

// strategic is strategicPatchObject, with its interpretStrategicMergePatchError.
func strategic(before, data []byte, schemaOf runtime.Object) ([]byte, error) {
	var original, patch map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(before, &original); err != nil {
		return nil, fmt.Errorf("read the object to patch: %w", err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &patch); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after, err := strategicpatch.StrategicMergeMapPatch(original, patch, schemaOf)
	switch {
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	case errors.Is(err, mergepatch.ErrBadJSONDoc), errors.Is(err, mergepatch.ErrBadPatchFormatForPrimitiveList),
		errors.Is(err, mergepatch.ErrBadPatchFormatForRetainKeys), errors.Is(err, mergepatch.ErrBadPatchFormatForSetElementOrderList),
		errors.Is(err, mergepatch.ErrUnsupportedStrategicMergePatchFormat):
		return nil, apierrors.NewBadRequest(err.Error())
	case err != nil:
		return nil, err
	}
	return json.Marshal(after)
}
