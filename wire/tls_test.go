package wire_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

func TestTLSFiles(t *testing.T) {
	a := wiretest.NewAuthority(t)
	pair := a.Issue(t, "client")
	der, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := write("ca.pem", a.PEM)
	cert := write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	key := write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	empty := write("empty.pem", nil)
	for _, test := range []struct {
		ca, cert, key string
		insecure      bool
		err           string // in the error
	}{
		{},
		{ca: ca},
		{ca: ca, cert: cert, key: key},
		{insecure: true},
		{ca: filepath.Join(dir, "none.pem"), err: "none.pem"},
		{ca: empty, err: "empty.pem: no PEM block CERTIFICATE"},
		{ca: key, err: "key.pem: no PEM block CERTIFICATE"},
		{cert: cert, err: "a key file is needed"},
		{key: key, err: "a certificate file is needed"},
		{cert: key, key: cert, err: "client certificate"},
	} {
		cfg, err := wire.TLSFiles(test.ca, test.cert, test.key, test.insecure)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%+v: error %v, want %q in it", test, err, test.err)
			}
			continue
		}
		asked := test.ca != "" || test.cert != "" || test.insecure
		if err != nil || (cfg != nil) != asked {
			t.Errorf("%+v: %v, %v", test, cfg, err)
			continue
		}
		if cfg != nil && ((cfg.RootCAs != nil) != (test.ca != "") || len(cfg.Certificates) > 0 != (test.cert != "") || cfg.InsecureSkipVerify != test.insecure) {
			t.Errorf("%+v: %+v", test, cfg)
		}
	}
}
