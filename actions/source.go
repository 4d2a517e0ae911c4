package actions

import (
	"strings"
	"unicode"
)

// What tools write on the objects that they keep as their source says.
const (
	// Argo CD marks by a label or by an annotation, as it is configured
	// (user-guide/resource_tracking of its documentation). The annotation
	// reads application:group/kind:namespace/name.
	labelArgo      = "argocd.argoproj.io/instance"
	annotationArgo = "argocd.argoproj.io/tracking-id"
	// Flux' controllers label all that they apply.
	labelFluxKustomization = "kustomize.toolkit.fluxcd.io/name"
	labelFluxRelease       = "helm.toolkit.fluxcd.io/name"
	// Helm annotates all that it installs, and demands the label of what it
	// adopts; charts give the release's name in another label.
	annotationHelm = "meta.helm.sh/release-name"
	labelManagedBy = "app.kubernetes.io/managed-by"
	labelInstance  = "app.kubernetes.io/instance"
	helm           = "Helm"
)

// Source says what put an object there and is likely to put it back when it is
// changed or deleted by hand, such as "Argo CD application shop", "Flux
// Kustomization shop", "Flux HelmRelease shop" or "Helm release shop"; empty
// when nothing says so. It goes by the labels and annotations alone: they may
// be left over from something that has gone. Of several it is the one that
// applies by itself: Flux and Argo CD install Helm's charts, too.
func Source(labels, annotations map[string]string) string {
	application, _, _ := strings.Cut(annotations[annotationArgo], ":")
	for _, mark := range []struct{ what, name string }{
		{"Argo CD application ", labels[labelArgo]},
		{"Argo CD application ", application},
		{"Flux HelmRelease ", labels[labelFluxRelease]},
		{"Flux Kustomization ", labels[labelFluxKustomization]},
		{"Helm release ", annotations[annotationHelm]},
	} {
		if name := visible(mark.name); name != "" {
			return mark.what + name
		}
	}
	if labels[labelManagedBy] != helm {
		return ""
	}
	if name := visible(labels[labelInstance]); name != "" {
		return "Helm release " + name
	}
	return "a Helm release"
}

// visible drops what a terminal would obey rather than show. An annotation may
// be any text.
func visible(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s))
}
