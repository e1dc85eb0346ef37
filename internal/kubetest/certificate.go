package kubetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// Certificate is a kind of certificate that a [Proxy] can serve.
type Certificate string

// The certificates that clients must refuse.
const (
	UnknownAuthority Certificate = "unknown authority" // another CA signed it
	Expired          Certificate = "expired"           // it ended an hour ago
	WrongHost        Certificate = "wrong host"        // it is for another name
)

// valid is the certificate a proxy serves unless TLS is broken.
const valid Certificate = "valid"

// serverCertificates returns the certificates of all kinds, and the CA that a
// client is to trust, as PEM.
func serverCertificates() (map[Certificate]*tls.Certificate, []byte, error) {
	trusted, err := newAuthority()
	if err != nil {
		return nil, nil, err
	}
	unknown, err := newAuthority()
	if err != nil {
		return nil, nil, err
	}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	tomorrow, hourAgo := time.Now().Add(24*time.Hour), time.Now().Add(-time.Hour)
	certificates := map[Certificate]*tls.Certificate{}
	for _, c := range []struct {
		kind      Certificate
		authority *authority
		end       time.Time
		addresses []net.IP
		names     []string
	}{
		{valid, trusted, tomorrow, loopback, []string{"localhost"}},
		{UnknownAuthority, unknown, tomorrow, loopback, []string{"localhost"}},
		{Expired, trusted, hourAgo, loopback, []string{"localhost"}},
		{WrongHost, trusted, tomorrow, nil, []string{"elsewhere.example"}},
	} {
		certificates[c.kind], err = c.authority.issue(c.end, c.addresses, c.names)
		if err != nil {
			return nil, nil, err
		}
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.certificate.Raw})
	return certificates, ca, nil
}

// authority is a certificate authority in memory.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certificateTemplate("kubetest-ca", time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	template.KeyUsage |= x509.KeyUsageCertSign
	template.IsCA, template.BasicConstraintsValid = true, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key}, err
}

func (a *authority) issue(end time.Time, addresses []net.IP, names []string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certificateTemplate("kubetest-proxy", end)
	if err != nil {
		return nil, err
	}
	template.IPAddresses, template.DNSNames = addresses, names
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func certificateTemplate(name string, end time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    end.Add(-48 * time.Hour),
		NotAfter:     end,
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}, nil
}
