package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// TLSFiles returns a configuration that trusts the certificates in the PEM
// file ca (empty: the system's), shows the certificate and key in the PEM files
// cert and key (both or neither), and with insecure checks nothing about the
// server. It returns nil where nothing is asked. Errors name the file.
func TLSFiles(ca, cert, key string, insecure bool) (*tls.Config, error) {
	if ca == "" && cert == "" && key == "" && !insecure {
		return nil, nil
	}
	cfg := &tls.Config{InsecureSkipVerify: insecure} //nolint:gosec // the user asked for it
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("CA certificates: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA certificates: %s: no PEM block CERTIFICATE that can be read", ca)
		}
	}
	switch {
	case cert == "" && key == "":
	case key == "":
		return nil, errors.New("client certificate: a key file is needed with it")
	case cert == "":
		return nil, errors.New("client key: a certificate file is needed with it")
	default:
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("client certificate %s with key %s: %w", cert, key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
