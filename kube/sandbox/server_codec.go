package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// codec turns objects into bytes and back, in the forms that client-go's own
// serializers know.
type codec struct {
	scheme *runtime.Scheme
	json   runtime.SerializerInfo
	infos  []runtime.SerializerInfo
}

func newCodec() codec {
	infos := serializer.NewCodecFactory(scheme.Scheme).SupportedMediaTypes()
	c := codec{scheme: scheme.Scheme, infos: infos}
	c.json, _ = runtime.SerializerInfoForMediaType(infos, runtime.ContentTypeJSON)
	return c
}

// accepted is the first form that a client says it accepts. Tables and
// aggregated discovery, which are asked for by parameters, are not made: every
// client that asks for them takes the plain form as well.
func (c codec) accepted(r *http.Request) runtime.SerializerInfo {
	for accept := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(accept))
		if err != nil || params["as"] != "" {
			continue
		}
		if info, ok := runtime.SerializerInfoForMediaType(c.infos, media); ok {
			return info
		}
	}
	return c.json
}

// encoder writes objects with their kind. It does not convert: everything is
// stored in the version that it is served in.
func (c codec) encoder(s runtime.Encoder, gv schema.GroupVersion) runtime.Encoder {
	return runtime.WithVersionEncoder{Version: gv, Encoder: s, ObjectTyper: c.scheme}
}

// bytes encodes an object that may be shared: its kind is set on a copy.
func (c codec) bytes(info runtime.SerializerInfo, o runtime.Object, gv schema.GroupVersion) ([]byte, error) {
	data, err := runtime.Encode(c.encoder(info.Serializer, gv), o.DeepCopyObject())
	if err != nil {
		return nil, fmt.Errorf("encode a %T: %w", o, err)
	}
	return data, nil
}

func (c codec) respond(w http.ResponseWriter, r *http.Request, a answer) {
	info := c.accepted(r)
	data, err := runtime.Encode(c.encoder(info.Serializer, a.gv), a.object)
	if err != nil {
		c.fail(w, r, fmt.Errorf("encode the answer: %w", err))
		return
	}
	w.Header().Set("Content-Type", info.MediaType)
	w.Header().Set("Cache-Control", "no-cache, private")
	w.WriteHeader(a.code)
	if r.Method == http.MethodHead {
		return
	}
	// There is nobody left to tell of an error of the connection.
	_, _ = w.Write(data)
}

// plain answers with something that is no API object.
func (c codec) plain(w http.ResponseWriter, o any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	// What it is used for always encodes, and there is nobody left to tell of
	// an error of the connection.
	_ = json.NewEncoder(w).Encode(o)
}

// fail answers with an error, as ErrorToAPIStatus in
// endpoints/handlers/responsewriters/status.go does.
func (c codec) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	c.respond(w, r, answer{code: int(status.Code), object: status, gv: schema.GroupVersion{Version: firstVersion}})
}

func statusOf(err error) *metav1.Status {
	if known := apierrors.APIStatus(nil); errors.As(err, &known) {
		status := known.Status()
		if status.Code == 0 {
			status.Code = http.StatusInternalServerError
		}
		return &status
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
		Reason: metav1.StatusReasonUnknown, Message: err.Error(),
	}
}

// decode reads an object of a certain kind, in whatever form it came.
func (c codec) decode(r *http.Request, data []byte, gvk schema.GroupVersionKind, into runtime.Object, strict bool) error {
	media := r.Header.Get("Content-Type")
	if media == "" {
		media = runtime.ContentTypeJSON
	}
	media, _, err := mime.ParseMediaType(media)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	info, ok := runtime.SerializerInfoForMediaType(c.infos, media)
	if !ok {
		return unsupportedMedia("the body of the request was in an unknown format - accepted media types include: " + c.mediaTypes())
	}
	return c.decodeWith(info, data, gvk, into, strict)
}

func (c codec) decodeWith(info runtime.SerializerInfo, data []byte, gvk schema.GroupVersionKind, into runtime.Object, strict bool) error {
	decoder := info.Serializer
	if strict {
		decoder = info.StrictSerializer
	}
	_, got, err := decoder.Decode(data, &gvk, into)
	switch {
	case err != nil && got != nil && got.Kind != "":
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, gvk.Kind, err))
	case err != nil:
		return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", gvk.Kind, err))
	case got.GroupVersion() != gvk.GroupVersion():
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			got.GroupVersion(), gvk.GroupVersion()))
	}
	return nil
}

func (c codec) mediaTypes() string {
	names := make([]string, len(c.infos))
	for i, info := range c.infos {
		names[i] = info.MediaType
	}
	return strings.Join(names, ", ")
}

func unsupportedMedia(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
		Reason: metav1.StatusReasonUnsupportedMediaType, Message: text,
	}}
}
