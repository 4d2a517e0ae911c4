package sandbox

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// modelled is the version of Kubernetes that the model was made from.
const modelled = "v1.37.2"

// serveInfo answers what is not about a resource: health, version, discovery.
// Everybody may ask (system:discovery and system:public-info-viewer in
// Kubernetes' bootstrap policy).
func (s *Server) serveInfo(w http.ResponseWriter, r *http.Request) bool {
	path := "/" + strings.Trim(r.URL.Path, "/")
	switch path {
	case "/readyz", "/livez", "/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// There is nobody left to tell of an error of the connection.
		_, _ = fmt.Fprint(w, "ok")
		return true
	case "/version":
		s.codec.plain(w, version.Info{
			Major: "1", Minor: "37", GitVersion: modelled, GitTreeState: "clean",
			GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		})
		return true
	}
	found := s.discover(path)
	if found == nil || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		return false
	}
	s.codec.respond(w, r, answer{http.StatusOK, found, schema.GroupVersion{Version: firstVersion}})
	return true
}

// discover is the discovery document of a path, nil for other paths.
func (s *Server) discover(path string) kruntime.Object {
	switch path {
	case "/api":
		return &metav1.APIVersions{
			Versions:                   []string{firstVersion},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
		}
	case "/apis":
		list := &metav1.APIGroupList{}
		for _, gv := range s.groups() {
			if gv.Group != "" {
				list.Groups = append(list.Groups, apiGroup(gv))
			}
		}
		return list
	}
	for _, gv := range s.groups() {
		switch group := "/apis/" + gv.Group; {
		case gv.Group == "" && path == "/api/"+gv.Version, gv.Group != "" && path == group+"/"+gv.Version:
			return s.resources(gv)
		case gv.Group != "" && path == group:
			g := apiGroup(gv)
			return &g
		}
	}
	return nil
}

// groups are the group versions of the table, in its order.
func (s *Server) groups() []schema.GroupVersion {
	var found []schema.GroupVersion
	seen := map[schema.GroupVersion]bool{}
	for _, k := range kinds() {
		if gv := k.gvk.GroupVersion(); !seen[gv] {
			seen[gv] = true
			found = append(found, gv)
		}
	}
	return found
}

func apiGroup(gv schema.GroupVersion) metav1.APIGroup {
	v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
	return metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v}
}

func (s *Server) resources(gv schema.GroupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{GroupVersion: gv.String()}
	for _, k := range kinds() {
		if k.gvk.GroupVersion() != gv {
			continue
		}
		r := metav1.APIResource{
			Name: string(k.resource), SingularName: strings.ToLower(k.gvk.Kind), Namespaced: k.namespaced, Kind: k.gvk.Kind,
			ShortNames: k.short, Verbs: metav1.Verbs{verbCreate, verbDelete, verbGet, verbList, verbPatch, verbUpdate, verbWatch},
		}
		if k.resource == accessReviews {
			r.Verbs = metav1.Verbs{verbCreate}
		}
		list.APIResources = append(list.APIResources, r)
		part := metav1.APIResource{Namespaced: k.namespaced, Kind: k.gvk.Kind, Verbs: metav1.Verbs{verbGet, verbPatch, verbUpdate}}
		if k.status {
			part.Name = r.Name + "/" + subStatus
			list.APIResources = append(list.APIResources, part)
		}
		if k.scale {
			part.Name, part.Kind = r.Name+"/"+subScale, scaleKind().Kind
			part.Group, part.Version = scaleKind().Group, scaleKind().Version
			list.APIResources = append(list.APIResources, part)
		}
	}
	return list
}
