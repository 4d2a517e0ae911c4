package controlplane

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// errPortTaken means that somebody took a port between its choice and its use.
// The start is repeated with other ports then.
var errPortTaken = errors.New("port already in use")

// ports are the ones that the control plane listens on.
type ports struct {
	etcd      int
	etcdPeer  int
	apiServer int
}

// freePorts asks the kernel for ports that nobody uses. All are held until the
// last is known, so that they differ.
func freePorts() (ports, error) {
	var (
		p    ports
		errs []error
	)
	for _, port := range []*int{&p.etcd, &p.etcdPeer, &p.apiServer} {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return ports{}, fmt.Errorf("find a free port: %w", err)
		}
		defer func() { _ = listener.Close() }()
		addr, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			errs = append(errs, fmt.Errorf("find a free port: unexpected address %s", listener.Addr()))
			continue
		}
		*port = addr.Port
	}
	return p, errors.Join(errs...)
}

func address(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort(loopback, strconv.Itoa(port))
}
