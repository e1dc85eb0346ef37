package kubetest

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// A port that refuses connections has to stay reserved, or the kernel may give
// it to somebody else before it listens again. A socket that is bound but does
// not listen does both.

// reservePort binds a loopback port, which nobody listens on, without
// listening.
func reservePort(port int) (fd int, err error) {
	fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, fmt.Errorf("reserve port %d: %w", port, err)
	}
	syscall.CloseOnExec(fd)
	// Connections that just ended must not stand in the way.
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		_ = syscall.Close(fd)
		return 0, fmt.Errorf("reserve port %d: %w", port, err)
	}
	return fd, nil
}

// listenReserved makes a reserved port listen. It takes the socket over.
func listenReserved(fd int) (net.Listener, error) {
	file := os.NewFile(uintptr(fd), "reserved port")
	defer func() { _ = file.Close() }()
	if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return net.FileListener(file)
}
