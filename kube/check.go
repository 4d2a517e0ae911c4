package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// checkTimeout is how long a user is left waiting before the first word about
// a server that does not answer.
const checkTimeout = 6 * time.Second

// prober looks whether the server is there.
type prober interface {
	// ready asks whether the server is ready to serve.
	ready(ctx context.Context) error
	// version asks for the server's version.
	version(ctx context.Context) (string, error)
}

type restProber struct {
	client rest.Interface
}

func (p restProber) ready(ctx context.Context) error {
	return p.client.Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error()
}

func (p restProber) version(ctx context.Context) (string, error) {
	body, err := p.client.Get().AbsPath("/version").MaxRetries(0).Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info version.Info
	if err := yaml.Unmarshal(body, &info); err != nil {
		return "", fmt.Errorf("read the server's version: %w", err)
	}
	return clean(info.GitVersion), nil
}

// Check sends one quick request, so that a wrong address or wrong credentials
// are told before the screen opens, in one sentence.
func (c *Client) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := c.probe.version(ctx)
	switch {
	case err == nil:
		return nil
	case KindOf(err) == KindForbidden:
		// The server knows the user. What they may do is seen resource by
		// resource.
		return nil
	}
	return c.problem(err)
}

// problem says what stands between the user and the server.
func (c *Client) problem(err error) error {
	kind := KindOf(err)
	return &Problem{Kind: kind, Text: clean(c.problemText(kind, err)), Err: err}
}

func (c *Client) problemText(kind Kind, err error) string {
	server := c.identity.Server
	why := cause(err)
	switch kind {
	case KindUnauthorized:
		if statusCode(err) == 0 {
			return fmt.Sprintf("the kubeconfig's credential plugin for user %q failed: %s; run it by hand, or log in again", c.identity.User, why)
		}
		return fmt.Sprintf("the API server at %s does not accept the credentials of user %q; log in again", server, c.identity.User)
	case KindUntrusted:
		return fmt.Sprintf("the certificate of the API server at %s can't be verified: %s; check certificate-authority-data in the kubeconfig", server, why)
	case KindTimeout:
		return fmt.Sprintf("the API server at %s does not answer; check the network, VPN or proxy, and the server's address", server)
	case KindUnreachable:
		if dns, ok := errors.AsType[*net.DNSError](err); ok {
			return fmt.Sprintf("the API server's name %s can't be found; check the address in the kubeconfig, and the network or VPN", dns.Name)
		}
		return fmt.Sprintf("the API server at %s can't be reached: %s; check that it runs and that the address is right", server, why)
	case KindServer:
		return fmt.Sprintf("the API server at %s answers, but is not ready: %s; try again in a moment", server, why)
	case KindNotFound:
		return fmt.Sprintf("what answers at %s is not a Kubernetes API server; check the address in the kubeconfig", server)
	default:
		return fmt.Sprintf("the API server at %s can't be used: %s", server, why)
	}
}
