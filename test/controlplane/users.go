package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Users that every control plane knows, from most to least rights.
const (
	// Admin may do everything.
	Admin = "admin"
	// StorageAdmin may read what claimref reads and patch volumes.
	StorageAdmin = "storage-admin"
	// Viewer may read what claimref reads.
	Viewer = "viewer"
	// AppDev may read the claims and pods of one namespace.
	AppDev = "app-dev"
	// ClaimsOnly may read the claims of one namespace.
	ClaimsOnly = "claims-only"
	// Nobody may do nothing.
	Nobody = "nobody"
)

// Users of the control plane's own parts. They are admins, but by names of
// their own, which managedFields and events show.
const (
	userControllerManager = "system:kube-controller-manager"
	userScheduler         = "system:kube-scheduler"
	userProvisioner       = "folders-provisioner"
	userKubelet           = "fake-kubelet"
)

const groupAdmins = "system:masters"

// user is a line of the token file.
type user struct {
	name  string
	token string
	group string
}

func newUsers() map[string]user {
	users := make(map[string]user)
	for _, name := range []string{Admin, userControllerManager, userScheduler, userProvisioner, userKubelet} {
		users[name] = user{name: name, token: rand.Text(), group: groupAdmins}
	}
	for _, name := range []string{StorageAdmin, Viewer, AppDev, ClaimsOnly, Nobody} {
		users[name] = user{name: name, token: rand.Text()}
	}
	return users
}

func writeTokens(path string, users map[string]user) error {
	var lines strings.Builder
	for _, u := range users {
		fmt.Fprintf(&lines, "%s,%s,%s", u.token, u.name, u.name)
		if u.group != "" {
			fmt.Fprintf(&lines, ",%q", u.group)
		}
		lines.WriteByte('\n')
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		return fmt.Errorf("write the token file: %w", err)
	}
	return nil
}

// writeServiceKey makes the key that the API server demands for the tokens of
// service accounts, although nothing here uses such a token.
func writeServiceKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	data := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write the service account key: %w", err)
	}
	return nil
}

// Config returns a configuration to act as a user. A name that is none of the
// users above is impersonated by the admin, which the API server treats as if
// that user had come with credentials of its own: tests can invent users and
// give them rights by Grant.
func (cp *ControlPlane) Config(name string) *rest.Config {
	config := &rest.Config{
		Host:            address("https", cp.ports.apiServer),
		TLSClientConfig: rest.TLSClientConfig{CAFile: cp.folder.caBundle()},
		UserAgent:       "claimref-test/" + name,
		// The server defends itself; a client-side limit only slows tests.
		QPS: -1,
	}
	if u, ok := cp.users[name]; ok {
		config.BearerToken = u.token
		return config
	}
	config.BearerToken = cp.users[Admin].token
	config.Impersonate.UserName = name
	return config
}

// Kubeconfig writes a kubeconfig to act as a user (see Config) and returns its
// path. It lies in the control plane's folder and is gone after Stop.
func (cp *ControlPlane) Kubeconfig(name string) (string, error) {
	config := cp.Config(name)
	ca, err := os.ReadFile(config.CAFile)
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", name, err)
	}
	const cluster = "claimref-test"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[cluster] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: ca}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token:       config.BearerToken,
		Impersonate: config.Impersonate.UserName,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: name, Namespace: Namespace}
	kubeconfig.CurrentContext = name

	path := filepath.Join(cp.folder.kubeconfigs(), url.PathEscape(name)+".yaml")
	data, err := clientcmd.Write(*kubeconfig)
	if err == nil {
		err = replaceFile(path, data)
	}
	if err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", name, err)
	}
	return path, nil
}

// replaceFile writes a file in one step: parallel tests read the same one.
func replaceFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
