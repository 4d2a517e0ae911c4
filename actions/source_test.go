package actions

import "testing"

func TestSource(t *testing.T) {
	type pairs = map[string]string
	for name, tt := range map[string]struct {
		labels, annotations pairs
		want                string
	}{
		"nothing":                {},
		"unmarked":               {labels: pairs{"app": "shop"}, annotations: pairs{"note": "x"}},
		"argo, by label":         {labels: pairs{"argocd.argoproj.io/instance": "shop"}, want: "Argo CD application shop"},
		"argo, by annotation":    {annotations: pairs{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:web/shop"}, want: "Argo CD application shop"},
		"argo, in any namespace": {annotations: pairs{"argocd.argoproj.io/tracking-id": "team_shop:/PersistentVolumeClaim:web/shop"}, want: "Argo CD application team_shop"},
		"argo, without a name":   {annotations: pairs{"argocd.argoproj.io/tracking-id": ":apps/Deployment:web/shop"}},
		"flux kustomization":     {labels: pairs{"kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, want: "Flux Kustomization shop"},
		"flux helm release": {
			labels:      pairs{"helm.toolkit.fluxcd.io/name": "shop", "app.kubernetes.io/managed-by": "Helm"},
			annotations: pairs{"meta.helm.sh/release-name": "web-shop"},
			want:        "Flux HelmRelease shop",
		},
		"argo that installs a chart": {
			labels:      pairs{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop-chart"},
			annotations: pairs{"argocd.argoproj.io/tracking-id": "shop:apps/StatefulSet:web/shop"},
			want:        "Argo CD application shop",
		},
		"helm, by annotation":     {annotations: pairs{"meta.helm.sh/release-name": "shop"}, want: "Helm release shop"},
		"helm, by label":          {labels: pairs{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"}, want: "Helm release shop"},
		"helm, without a name":    {labels: pairs{"app.kubernetes.io/managed-by": "Helm"}, want: "a Helm release"},
		"managed by an operator":  {labels: pairs{"app.kubernetes.io/managed-by": "strimzi", "app.kubernetes.io/instance": "shop"}},
		"an instance of anything": {labels: pairs{"app.kubernetes.io/instance": "shop"}},
		"empty marks":             {labels: pairs{"argocd.argoproj.io/instance": ""}, annotations: pairs{"meta.helm.sh/release-name": " "}},
		"escape sequences":        {annotations: pairs{"meta.helm.sh/release-name": "sh\x1b[2J\nop\u202e\xff"}, want: "Helm release sh[2Jop"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Source(tt.labels, tt.annotations); got != tt.want {
				t.Errorf("source = %q, want %q", got, tt.want)
			}
		})
	}
}
